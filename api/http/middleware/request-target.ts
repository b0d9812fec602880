import type { Context, Middleware } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';
import { isPlainHost } from '../public-url.ts';

/** Returns the path of a request; null if its target is no URL, such as "http://[": Koa then throws. */
export function pathOf(ctx: Pick<Context, 'path'>): string | null {
  try {
    return ctx.path;
  } catch {
    return null;
  }
}

/** Rejects requests whose target is no URL, so that `ctx.path` does not throw in later middleware. */
export const readablePath: Middleware = async (ctx, next) => {
  if (pathOf(ctx) === null) throw new LecternError('BAD_REQUEST', 'The URL of the request is not valid');
  await next();
};

/**
 * Rejects requests whose Host, or whose X-Forwarded-Host from a trusted proxy, is not a plain host and port (RFC 9112,
 * 3.2), or whose forwarded scheme is not http or https. Without PUBLIC_URL, they end up in links and policies.
 */
export const requirePlainHost: Middleware = async (ctx, next) => {
  assertHost('Host', ctx.get('Host'));
  if (ctx.app.proxy) {
    for (const host of forwarded(ctx, 'X-Forwarded-Host')) assertHost('X-Forwarded-Host', host);
    for (const scheme of forwarded(ctx, 'X-Forwarded-Proto')) assertScheme(scheme);
  }
  await next();
};

/**
 * @throws {LecternError} BAD_REQUEST if proxies appended to the client's header, because the client's value would
 * count.
 */
function forwarded(ctx: Context, name: string): string[] {
  const values = ctx.get(name).split(',');
  if (values.length > ctx.app.maxIpsCount) {
    throw new LecternError(
      'BAD_REQUEST',
      `The ${name} header has more values than there are trusted proxies`,
    );
  }
  return values.map((value) => value.trim());
}

function assertHost(name: string, host: string): void {
  if (host === '' || isPlainHost(host)) return;
  throw new LecternError(
    'BAD_REQUEST',
    `The ${name} header must be a host name or an IP address, with or without a port`,
  );
}

function assertScheme(scheme: string): void {
  if (['', 'http', 'https'].includes(scheme.toLowerCase())) return;
  throw new LecternError('BAD_REQUEST', 'The X-Forwarded-Proto header must be http or https');
}
