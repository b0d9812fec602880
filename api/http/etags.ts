import { createHash } from 'node:crypto';
import type { Context } from 'koa';

/** A strong ETag: the SHA-256 of the bytes. @param variant tells one encoding of the same bytes from another. */
export function etagOf(bytes: Uint8Array, variant = ''): string {
  return `"${createHash('sha256').update(bytes).digest('hex')}${variant}"`;
}

/**
 * Returns whether `If-Match` allows a request. Compares strongly (RFC 9110, 13.1.1): a client that resumes a download must
 * not get the rest of another file.
 */
export function matchesIfMatch(ctx: Pick<Context, 'get'>, etag: string): boolean {
  const condition = ctx.get('If-Match');
  return condition === '' || condition.split(',').some((one) => ['*', etag].includes(one.trim()));
}

/**
 * Returns whether a client has what an ETag names. Compares weakly (RFC 9110, 13.1.2). Not ctx.fresh: fetch() adds "no-cache"
 * to conditions, and that rules them out.
 */
export function matchesIfNoneMatch(ctx: Pick<Context, 'get'>, etag: string): boolean {
  const tags = ctx.get('If-None-Match').split(',');
  return tags.some((one) => ['*', etag, `W/${etag}`].includes(one.trim()));
}
