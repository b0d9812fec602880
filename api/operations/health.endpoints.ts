import type Router from '@koa/router';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { createRouter } from '../http/router.ts';

/** Whether this process lives, and whether it can do its work: for load balancers and orchestrators. */
export function healthRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/health');

  router.get('/live', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/ready', async (ctx) => {
    const { ready, checks } = await deps.readiness.read();
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ok' : 'unavailable', checks };
  });

  router.all(['/live', '/ready'], methodNotAllowed('GET, HEAD'));
  return router;
}
