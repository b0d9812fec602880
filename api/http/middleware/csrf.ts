import type { Context } from 'koa';
import { parseUrl } from '../../../shared/platform/parse-url.ts';

const reading = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Whether a request that changes something comes from a page of another site. A browser sends a login along with it,
 * whoever wrote the page; but it also says where the page is from, and no page can make it lie about that (Fetch
 * Metadata, and Origin for older browsers). Requests without either come from no browser.
 *
 * @param publicOrigin where Lectern's own pages are from when a proxy hides it: "https://lectern.example".
 */
export function isCrossSiteWrite(
  ctx: Pick<Context, 'method' | 'get' | 'host'>,
  publicOrigin?: string,
): boolean {
  if (reading.includes(ctx.method)) return false;
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site !== 'same-origin';
  const origin = ctx.get('Origin');
  if (origin === '' || origin === publicOrigin) return false;
  return parseUrl(origin)?.host !== ctx.host;
}
