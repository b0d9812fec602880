import type Router from '@koa/router';
import Koa from 'koa';
import { LecternError } from '../shared/errors.ts';
import type { RequestState } from './context.ts';
import type { AppDependencies } from './dependencies.ts';
import { clientSignal } from './middleware/client-signal.ts';
import { renderErrors, shapeA } from './middleware/errors.ts';
import { logRequests } from './middleware/log-requests.ts';
import { requirePlainHost } from './middleware/plain-host.ts';
import { readablePath } from './middleware/readable-path.ts';
import { requestId } from './middleware/request-id.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { warnOfProxies } from './middleware/unexpected-proxy.ts';
import { adminQueues } from './routes/admin-queues.ts';
import { assetRoutes } from './routes/assets.ts';
import { contentRoutes } from './routes/content.ts';
import { embedRoutes } from './routes/embed.ts';
import { exportRoutes } from './routes/exports.ts';
import { healthRoutes } from './routes/health.ts';
import { lessonPlayerDataRoutes } from './routes/lesson-player-data.ts';
import { lessonRoutes } from './routes/lessons.ts';
import { ltiKeyRoutes } from './routes/lti-keys.ts';
import { ltiRegistrationRoutes } from './routes/lti-registration.ts';
import { ltiRoutes } from './routes/lti.ts';
import { oembedRoutes } from './routes/oembed.ts';
import { openApiRoutes } from './routes/openapi.ts';
import { playerAssetRoutes } from './routes/player-assets.ts';
import { playerFileRoutes } from './routes/player-files.ts';
import { playerRoutes } from './routes/player.ts';
import { progressRoutes } from './routes/progress.ts';
import { acceptEmptyParameters } from './routes/router.ts';
import { sessionRoutes } from './routes/session.ts';
import { signTokenRoutes } from './routes/sign-token.ts';
import { startPageRoutes } from './routes/start-page.ts';

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
