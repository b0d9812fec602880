import type { Context } from 'koa';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

type Addressed = Pick<Context, 'protocol' | 'host'>;

/** A name or an IP address with an optional port; no user, path, space or anything else that a header may hold. */
const plainHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Returns the public URL of this service without a slash at its end: PUBLIC_URL, else the origin of the request. */
export function publicUrlOf(ctx: Addressed, { publicUrl }: Pick<Config, 'publicUrl'>): string {
  return publicUrl ?? requestOrigin(ctx);
}

/**
 * Returns the origin that a request was sent to, serialized as browsers do. Host and scheme come from the client or
 * from its proxy, so nothing of them is passed on as it came.
 *
 * @throws {LecternError} BAD_REQUEST without a Host, which HTTP/1.0 allows.
 */
function requestOrigin({ protocol, host }: Addressed): string {
  if (!isPlainHost(host)) throw new LecternError('BAD_REQUEST', 'A Host header is required here');
  return new URL(`${protocol === 'https' ? 'https' : 'http'}://${host}`).origin;
}

/** Returns whether a text is a valid Host header. */
export function isPlainHost(host: string): boolean {
  return plainHost.test(host) && parseUrl(`http://${host}`) !== null;
}

/**
 * Returns who may keep a response that names the service's own address. Without PUBLIC_URL that address is the Host
 * header's: a shared cache would hand one client's to all others.
 */
export function cacheScope({ publicUrl }: Pick<Config, 'publicUrl'>): 'public' | 'private' {
  return publicUrl === undefined ? 'private' : 'public';
}

/** Returns the path of PUBLIC_URL, which a proxy removes from requests: '' or such as '/lectern'. */
export function publicPath({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}
