import Koa from 'koa';
import type { Middleware } from 'koa';
import { createRouter, failing, recordRequests } from './http.ts';
import type { RequestState } from './http.ts';
import type { Platform } from './platform.ts';
import { actionRoutes } from './routes/actions.ts';
import { authorizationRoutes } from './routes/authorization.ts';
import { deepLinkingRoutes } from './routes/deep-linking.ts';
import { lineItemRoutes } from './routes/line-items.ts';
import { pageRoutes } from './routes/pages.ts';
import { registrationRoutes } from './routes/registration.ts';
import { resultRoutes } from './routes/results.ts';
import { scoreRoutes } from './routes/scores.ts';
import { tokenRoutes } from './routes/token.ts';
import type Router from '@koa/router';

const routes = [
  keyRoutes,
  registrationRoutes,
  authorizationRoutes,
  tokenRoutes,
  lineItemRoutes,
  scoreRoutes,
  resultRoutes,
  deepLinkingRoutes,
  pageRoutes,
  actionRoutes,
];

/** The platform's HTTP application. */
export function createApp(platform: Platform): Koa<RequestState> {
  const app = new Koa<RequestState>();
  // A connection that a fault dropped, or a client that went away, is no news.
  app.silent = true;
  app.use(refuseOtherNames);
  app.use(recordRequests(platform));
  for (const createRoutes of routes) app.use(createRoutes(platform).routes());
  return app;
}

/** It listens on this machine alone; a site whose name leads here as well (DNS rebinding) is none of its pages. */
const refuseOtherNames: Middleware = async (ctx, next) => {
  if (['127.0.0.1', 'localhost'].includes(ctx.hostname)) await next();
  else ctx.throw(421, 'The platform has another name.');
};

/** The platform's public keys. */
function keyRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.get('/jwks', failing(platform, 'jwks'), (ctx) => {
    ctx.body = { keys: platform.keys.map(({ publicJwk }) => publicJwk) };
  });
  return router;
}
