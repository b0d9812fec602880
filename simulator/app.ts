import Koa from 'koa';
import type { Middleware } from 'koa';
import { createRouter, applyFaults, recordRequests } from './http.ts';
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

export function createApp(platform: Platform): Koa<RequestState> {
  const app = new Koa<RequestState>();
  // Faults drop connections, and clients disconnect: neither belongs on stderr.
  app.silent = true;
  app.use(rejectOtherNames);
  app.use(recordRequests(platform));
  for (const createRoutes of routes) app.use(createRoutes(platform).routes());
  return app;
}

/** Rejects other host names: a website whose name resolves to this machine (DNS rebinding) must not read its pages. */
const rejectOtherNames: Middleware = async (ctx, next) => {
  if (['127.0.0.1', 'localhost'].includes(ctx.hostname)) await next();
  else ctx.throw(421, 'The platform has another host name.');
};

function keyRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.get('/jwks', applyFaults(platform, 'jwks'), (ctx) => {
    ctx.body = { keys: platform.keys.map(({ publicJwk }) => publicJwk) };
  });
  return router;
}
