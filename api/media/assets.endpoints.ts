import type Router from '@koa/router';
import type { Context } from 'koa';
import { readAssetAddress } from '../../shared/media/asset-urls.ts';
import type { Asset } from '../../shared/media/asset-urls.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { assetPolicy, isInert } from './inert-types.ts';
import { sendFile } from './send-file.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { anyOrigin } from '../http/middleware/public-cors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { createRouter } from '../http/router.ts';

const methods = 'GET, HEAD, OPTIONS';
const requestHeaders = 'Range, If-Range, If-Match, If-None-Match';
const responseHeaders = 'Accept-Ranges, Content-Length, Content-Range, ETag, Repr-Digest';

/** Files of the store, for whoever has a signed address. Nothing is looked up but the file. */
export function assetRoutes({ store, secrets }: AppDependencies): Router<RequestState> {
  const router = createRouter('/assets');
  router.use(anyOrigin(methods, requestHeaders));

  router.get('/*address', async (ctx) => {
    ctx.set('Access-Control-Expose-Headers', responseHeaders);
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.set('Content-Security-Policy', assetPolicy);
    ctx.set('Cache-Control', 'no-store');
    const { expires, signature } = ctx.query;
    const asset = readAssetAddress(secrets.asset, { path: ctx.path, expires, signature });
    if (asset === null) throw new LecternError('FORBIDDEN', 'Invalid or expired signature');
    const file = await store[asset.area].open(asset);
    if (file === null) throw new LecternError('NOT_FOUND', 'File not found');
    await sendFile(ctx, file, asset.sha256, () => describe(ctx, asset));
  });

  router.all('/*address', methodNotAllowed(methods));
  return router;
}

function describe(ctx: Context, { mimeType, fileName, expiresAt }: Asset & { expiresAt: Date }): void {
  const seconds = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
  ctx.set('Cache-Control', `public, max-age=${Math.max(seconds, 0)}, immutable`);
  const inert = isInert(mimeType);
  if (ctx.status !== 304) ctx.type = inert ? mimeType : 'application/octet-stream';
  if (!inert) ctx.set('Content-Disposition', `attachment; filename="${fileName}"`);
}
