import type { Context, Middleware } from 'koa';
import type { Config } from '../../../shared/platform/config.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { parseUrl } from '../../../shared/platform/parse-url.ts';
import { failure } from '../responses.ts';

/*
 * CSRF (cross-site request forgery): browsers send a user's session cookie with every request, even with requests of
 * foreign pages. Lectern therefore rejects writes that come from another site.
 */

export const crossSiteWriteText = 'Requests from other sites are not allowed';
export const crossSiteWrite = failure(
  'The request comes from a page of another site that the operator has not allowed.',
  crossSiteWriteText,
);

type OriginConfig = Pick<Config, 'publicUrl' | 'allowedOrigins'>;

/** Rejects writes from pages of other sites, except those of the allowed origins. */
export function csrfProtection(config: OriginConfig): Middleware {
  return async (ctx, next) => {
    requireSameSite(ctx, config);
    await next();
  };
}

/** Does the same for one request. @throws {LecternError} FORBIDDEN */
export function requireSameSite(
  ctx: Pick<Context, 'method' | 'get' | 'host'>,
  { publicUrl, allowedOrigins }: OriginConfig,
): void {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  if (isCrossSiteWrite(ctx, publicOrigin) && !allowedOrigins.includes(ctx.get('Origin')))
    throw new LecternError('FORBIDDEN', crossSiteWriteText);
}

const safeMethods = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Returns whether a page of another site sent a request that changes something. Browsers name the page's site in
 * Sec-Fetch-Site (Fetch Metadata), older ones its origin in Origin, and no page can forge these. A request with neither
 * does not come from a browser.
 *
 * @param publicOrigin of Lectern's own pages, if a proxy hides it: "https://lectern.example".
 */
export function isCrossSiteWrite(
  ctx: Pick<Context, 'method' | 'get' | 'host'>,
  publicOrigin?: string,
): boolean {
  if (safeMethods.includes(ctx.method)) return false;
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site !== 'same-origin';
  const origin = ctx.get('Origin');
  if (origin === '' || origin === publicOrigin) return false;
  return parseUrl(origin)?.host !== ctx.host;
}
