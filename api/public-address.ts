import type { Context } from 'koa';
import type { Config } from '../shared/config.ts';

type Addressed = Pick<Context, 'protocol' | 'host'>;

/** The address that a client knows this service by, without a slash at its end: PUBLIC_URL, else the request's own. */
export function publicAddress(ctx: Addressed, { publicUrl }: Pick<Config, 'publicUrl'>): string {
  return publicUrl ?? requestAddress(ctx);
}

/** The address that a request was sent to, as far as it is known behind proxies. Not ctx.origin: that is a header. */
export function requestAddress({ protocol, host }: Addressed): string {
  return `${protocol}://${host}`;
}

/** The path of PUBLIC_URL, which a proxy takes away before requests come here: '' or such as '/lectern'. */
export function publicPath({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}
