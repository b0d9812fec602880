import type Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { signAssetAddress } from '../../shared/asset-addresses.ts';
import type { Asset } from '../../shared/asset-addresses.ts';
import { LecternError } from '../../shared/errors.ts';
import type { RequestState } from '../context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { anyOrigin } from '../middleware/any-origin.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import { noStore } from '../middleware/no-store.ts';
import { limitByAddress } from '../middleware/rate-limit.ts';
import { authorizePlayer } from '../player/authorize.ts';
import { createRouter } from './router.ts';

const methods = 'GET, HEAD, OPTIONS';

/** Signed addresses live for an hour or more: whoever is led to one has half an hour at least to fetch from it. */
const redirectSeconds = 1800;

export const mediaIdSchema = z
  .guid()
  .transform((id) => id.toLowerCase())
  .meta({ description: 'Id of the medium: what follows `media:` in the lesson.' });
export const widgetFile = /^(.+)\.(js|css)$/s;

/** What a player's token authorizes besides the lesson: its media and widgets, by way of signed addresses. */
export function playerAssetRoutes(deps: AppDependencies): Router<RequestState> {
  const { config, secrets, playerAssets } = deps;
  const router = createRouter('/api/public/lessons/:lessonId');
  const redirect = (ctx: Context, asset: Asset) => {
    ctx.status = 302;
    ctx.set('Location', signAssetAddress(secrets.asset, asset, { base: config.publicUrl }).url);
    ctx.set('Cache-Control', `private, max-age=${redirectSeconds}`);
    ctx.body = '';
  };

  router.use(['/media', '/widgets'], anyOrigin(methods), noStore, limitByAddress(deps));

  router.get('/media/:mediaId', async (ctx) => {
    const { version } = await authorizePlayer(deps, ctx.params.lessonId, ctx.query);
    const mediaId = mediaIdSchema.safeParse(ctx.params.mediaId);
    if (!mediaId.success) throw new LecternError('BAD_REQUEST', 'Invalid media ID');
    redirect(ctx, await playerAssets.findMedium(version, mediaId.data, ctx.state.signal));
  });

  router.get('/widgets/:file', async (ctx) => {
    const { version } = await authorizePlayer(deps, ctx.params.lessonId, ctx.query);
    const [, type, kind] = widgetFile.exec(ctx.params.file ?? '') ?? [];
    if (type === undefined) throw new LecternError('NOT_FOUND', 'Widget not found');
    redirect(ctx, await playerAssets.findWidgetFile(version, type, kind === 'css' ? 'css' : 'js'));
  });

  router.all(['/media/:mediaId', '/widgets/:file'], methodNotAllowed(methods));
  return router;
}
