import { constants } from 'node:zlib';
import compress from 'koa-compress';
import type { Context, Middleware } from 'koa';
import { minCompressedBytes } from '../send-texts.ts';

/** The fastest gzip takes 8 ms for a megabyte of JSON, and the default 68, for a fifth fewer bytes. Brotli takes 13 ms. */
const compressBody = compress({
  gzip: { level: constants.Z_BEST_SPEED },
  deflate: false,
  threshold: minCompressedBytes,
});

/**
 * Compresses responses that no handler has compressed, with zstd (which Node has since 22.15), Brotli or gzip. Streams and
 * files compress themselves, or not at all.
 */
export const compressResponses: Middleware = async (ctx, next) => {
  await next();
  ctx.state.bodyBytes ??= ctx.length;
  if (mayCompress(ctx)) await compressBody(ctx, () => Promise.resolve());
};

function mayCompress(ctx: Context): boolean {
  const isText = typeof ctx.body === 'string' || Buffer.isBuffer(ctx.body);
  return (
    isText &&
    ctx.length >= minCompressedBytes &&
    !ctx.res.hasHeader('Content-Encoding') &&
    !hasAmbientCredentials(ctx)
  );
}

/**
 * Returns whether the browser may have added credentials by itself. Then a page of an attacker could send requests in a
 * user's name, and learn secrets in the responses from their sizes (BREACH). Tokens and bearer credentials are unknown
 * to such a page.
 */
function hasAmbientCredentials(ctx: Context): boolean {
  return ctx.get('Cookie') !== '' || /^Basic /i.test(ctx.get('Authorization'));
}
