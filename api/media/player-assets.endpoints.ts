import type Router from '@koa/router';
import { versionFiles } from './version-files.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { anyOrigin } from '../http/middleware/public-cors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { noStore } from '../http/middleware/no-store.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import { authorizePlayer } from '../player/authorize.ts';
import { createRouter } from '../http/router.ts';

const methods = 'GET, HEAD, OPTIONS';

/** What a player's token authorizes besides the lesson: its media and widgets, by way of signed addresses. */
export function playerAssetRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/api/public/lessons/:lessonId');
  const files = versionFiles(deps);

  router.use(['/media', '/widgets'], anyOrigin(methods), noStore, limitByAddress(deps));

  router.get('/media/:mediaId', async (ctx) => {
    const { version } = await authorizePlayer(deps, ctx.params.lessonId, ctx.query);
    await files.sendMedium(ctx, version, ctx.params.mediaId);
  });

  router.get('/widgets/:file', async (ctx) => {
    const { version } = await authorizePlayer(deps, ctx.params.lessonId, ctx.query);
    await files.sendWidget(ctx, version, ctx.params.file);
  });

  router.all(['/media/:mediaId', '/widgets/:file'], methodNotAllowed(methods));
  return router;
}
