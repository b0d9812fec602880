import type Router from '@koa/router';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { anyOrigin } from '../http/middleware/public-cors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import { createRouter } from '../http/router.ts';

const methods = 'GET, HEAD, OPTIONS';

/** Platforms keep the keys for an hour; a new one is there a day before it signs. */
const cacheSeconds = 3600;

/** The public keys with which learning platforms check what Lectern sends them. */
export function ltiKeyRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter();
  router.use('/lti/jwks', anyOrigin(methods), limitByAddress(deps));
  router.get('/lti/jwks', async (ctx) => {
    const keys = await deps.lti.keys.publicKeys();
    ctx.set('Cache-Control', `public, max-age=${cacheSeconds}`);
    ctx.body = keys;
  });
  router.all('/lti/jwks', methodNotAllowed(methods));
  return router;
}
