import type Router from '@koa/router';
import { messageOf } from '../../shared/errors.ts';
import { missingIndexes } from '../../shared/models/database.ts';
import { pingMongo } from '../../shared/mongo.ts';
import { pingRedis } from '../../shared/redis.ts';
import { withDeadline } from '../deadline.ts';
import type { RequestState } from '../context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import { createRouter } from './router.ts';

/** A check that does not answer within this time has failed. */
const checkMilliseconds = 5_000;

/** Whether this process lives, and whether it can do its work: for load balancers and orchestrators. */
export function healthRoutes({ db, redis, store, log }: AppDependencies): Router<RequestState> {
  const router = createRouter('/health');

  router.get('/live', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/ready', async (ctx) => {
    const checks: Record<string, () => Promise<unknown>> = {
      mongodb: () => pingMongo(db.connection),
      indexes: async () => {
        const missing = await missingIndexes(db);
        if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
      },
      redis: () => pingRedis(redis),
      store: () => store.ping(),
    };
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        try {
          await withDeadline(check(), checkMilliseconds);
          return [name, 'ok'] as const;
        } catch (error) {
          // Details are for the log: they can name hosts.
          log.warn({ check: name, reason: messageOf(error) }, 'not ready');
          return [name, 'failed'] as const;
        }
      }),
    );
    const ready = results.every(([, result]) => result === 'ok');
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ok' : 'unavailable', checks: Object.fromEntries(results) };
  });

  router.all(['/live', '/ready'], methodNotAllowed('GET, HEAD'));
  return router;
}
