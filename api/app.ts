import type Router from '@koa/router';
import Koa from 'koa';
import { LecternError } from '../shared/platform/errors.ts';
import type { RequestState } from './http/context.ts';
import type { AppDependencies } from './dependencies.ts';
import { clientSignal } from './http/middleware/client-signal.ts';
import { renderErrors, shapeA } from './http/middleware/errors.ts';
import { logRequests } from './http/middleware/log-requests.ts';
import { requirePlainHost } from './http/middleware/plain-host.ts';
import { readablePath } from './http/middleware/readable-path.ts';
import { requestId } from './http/middleware/request-id.ts';
import { securityHeaders } from './http/middleware/security-headers.ts';
import { warnOfProxies } from './http/middleware/unexpected-proxy.ts';
import { adminQueues } from './operations/admin-queues.endpoints.ts';
import { assetRoutes } from './media/assets.endpoints.ts';
import { contentRoutes } from './media/content.endpoints.ts';
import { embedRoutes } from './embed/embed.endpoints.ts';
import { exportRoutes } from './exports/exports.endpoints.ts';
import { healthRoutes } from './operations/health.endpoints.ts';
import { lessonPlayerDataRoutes } from './lessons/lesson-player-data.endpoints.ts';
import { lessonRoutes } from './lessons/lessons.endpoints.ts';
import { ltiKeyRoutes } from './lti/lti-keys.endpoints.ts';
import { ltiRegistrationRoutes } from './lti/lti-registration.endpoints.ts';
import { ltiRoutes } from './lti/lti.endpoints.ts';
import { oembedRoutes } from './embed/oembed.endpoints.ts';
import { openApiRoutes } from './openapi/openapi.endpoints.ts';
import { playerAssetRoutes } from './media/player-assets.endpoints.ts';
import { playerFileRoutes } from './player/player-files.endpoints.ts';
import { playerRoutes } from './player/player.endpoints.ts';
import { progressRoutes } from './progress/progress.endpoints.ts';
import { acceptEmptyParameters } from './http/router.ts';
import { sessionRoutes } from './accounts/session.endpoints.ts';
import { signTokenRoutes } from './tokens/sign-token.endpoints.ts';
import { startPageRoutes } from './operations/start-page/start-page.endpoints.ts';

const routes = [
  startPageRoutes,
  healthRoutes,
  openApiRoutes,
  signTokenRoutes,
  progressRoutes,
  playerRoutes,
  playerAssetRoutes,
  contentRoutes,
  assetRoutes,
  embedRoutes,
  oembedRoutes,
  ltiRoutes,
  ltiKeyRoutes,
  ltiRegistrationRoutes,
  playerFileRoutes,
  sessionRoutes,
  lessonRoutes,
  lessonPlayerDataRoutes,
  exportRoutes,
];

/** All of the API but the queue board, in the order in which requests meet it; `routesOf` lists what is in it. */
export function createRouters(deps: AppDependencies): Router<RequestState>[] {
  return routes.map((createRoutes) => acceptEmptyParameters(createRoutes(deps)));
}

/** The HTTP application over connections that are open already; what tests boot. It listens on nothing itself. */
export function createApp(deps: AppDependencies): Koa<RequestState> {
  const app = new Koa<RequestState>({
    proxy: deps.config.trustProxy > 0,
    maxIpsCount: deps.config.trustProxy,
  });
  // Cookies are signed with it.
  app.keys = [deps.secrets.cookie];
  // A client that goes away in mid-answer ends a stream early; that is counted in the request log, as 499.
  app.on('error', (error: Error) => deps.log.debug({ err: error }, 'response failed'));

  app.use(requestId);
  app.use(logRequests(deps.log, deps.metrics));
  app.use(warnOfProxies(deps.config, deps.log));
  app.use(clientSignal(deps.stopping));
  app.use(securityHeaders(deps.config));
  app.use(renderErrors(shapeA));
  app.use(readablePath);
  app.use(requirePlainHost);
  if (deps.config.admin !== undefined) app.use(adminQueues(deps.config.admin, deps.queue, deps));
  for (const router of createRouters(deps)) app.use(router.routes());
  app.use(() => {
    throw new LecternError('NOT_FOUND', 'Not found');
  });
  return app;
}
