import { createHash } from 'node:crypto';
import type { Context } from 'koa';

/** Returns a strong ETag: the SHA-256 of the bytes. @param variant distinguishes encodings of the same bytes. */
export function etagOf(bytes: Uint8Array, variant = ''): string {
  return `"${createHash('sha256').update(bytes).digest('hex')}${variant}"`;
}

/**
 * Returns whether `If-Match` allows the request. It compares strongly (RFC 9110, 13.1.1): a client that resumes a
 * download must not get the rest of another file.
 */
export function matchesIfMatch(ctx: Pick<Context, 'get'>, etag: string): boolean {
  const condition = ctx.get('If-Match');
  return condition === '' || condition.split(',').some((one) => ['*', etag].includes(one.trim()));
}

/**
 * Returns whether the client already has the file (`If-None-Match`). It compares weakly (RFC 9110, 13.1.2). `ctx.fresh`
 * does not work here: fetch() adds "no-cache" to conditional requests, and then Koa never returns 304.
 */
export function matchesIfNoneMatch(ctx: Pick<Context, 'get'>, etag: string): boolean {
  const tags = ctx.get('If-None-Match').split(',');
  return tags.some((one) => ['*', etag, `W/${etag}`].includes(one.trim()));
}
