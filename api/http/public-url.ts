import type { Context } from 'koa';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

type RequestUrl = Pick<Context, 'protocol' | 'host'>;

/** A host name or IP address with an optional port. Headers may contain anything: users, paths, spaces. */
const plainHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Returns the public URL of this service without a slash at its end: PUBLIC_URL, else the origin of the request. */
export function publicUrlOf(ctx: RequestUrl, { publicUrl }: Pick<Config, 'publicUrl'>): string {
  return publicUrl ?? requestOrigin(ctx);
}

/**
 * Returns the origin that a request was sent to. Host and scheme come from the client or its proxy, so it serializes
 * them as browsers do and never copies them.
 *
 * @throws {LecternError} BAD_REQUEST without a Host header, which HTTP/1.0 allows.
 */
function requestOrigin({ protocol, host }: RequestUrl): string {
  if (!isPlainHost(host)) throw new LecternError('BAD_REQUEST', 'A Host header is required here');
  return new URL(`${protocol === 'https' ? 'https' : 'http'}://${host}`).origin;
}

/**
 * Returns the URLs of this service that begin with the origin of a page: the public one, and the one of the request, which
 * differs if the page was opened under another host name. Only for responses that no shared cache stores.
 */
export function pageUrlsOf(ctx: RequestUrl, config: Pick<Config, 'publicUrl'>): string[] {
  const own = isPlainHost(ctx.host) ? [requestOrigin(ctx) + publicPath(config)] : [];
  return [...new Set([publicUrlOf(ctx, config), ...own])];
}

/** Returns whether a text is a valid Host header. */
export function isPlainHost(host: string): boolean {
  return plainHost.test(host) && parseUrl(`http://${host}`) !== null;
}

/**
 * Returns which caches may store a response that contains the service's URL. Without PUBLIC_URL, the URL comes from the
 * Host header, and a shared cache would send one client's to all others.
 */
export function cacheScope({ publicUrl }: Pick<Config, 'publicUrl'>): 'public' | 'private' {
  return publicUrl === undefined ? 'private' : 'public';
}

/** Returns the path of PUBLIC_URL, which a proxy removes from requests: '/lectern', or ''. */
export function publicPath({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}
