import type Router from '@koa/router';
import { createRouter, failing } from '../http.ts';
import type { RequestState } from '../http.ts';
import type { Platform } from '../platform.ts';

/** The platform's public keys. */
export function keyRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.get('/jwks', failing(platform, 'jwks'), (ctx) => {
    ctx.body = { keys: platform.keys.map(({ publicJwk }) => publicJwk) };
  });
  return router;
}
