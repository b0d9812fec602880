import type { Redis } from 'ioredis';
import Koa from 'koa';
import type { AuditLog } from '../shared/audit/audit-log.ts';
import type { Subscriptions } from '../shared/outgoing/subscriptions.ts';
import type { Config } from '../shared/platform/config.ts';
import type { Logger } from '../shared/platform/log.ts';
import type { Database } from '../shared/models/database.ts';
import type { ReadinessProbe } from '../shared/operations/checks.ts';
import type { PreparedLessons } from '../shared/player/prepared-lessons.ts';
import type { ExportQueue } from '../shared/exports/queues.ts';
import type { Secrets } from '../shared/platform/secrets.ts';
import type { Store } from '../shared/storage/store.ts';
import type { Uploads } from '../shared/imports/uploads.ts';
import type { Downloader } from '../shared/media/downloads/downloader.ts';
import type { PlayerReleases } from './player/player-releases.ts';
import type { TokenUses } from './player/token-uses.ts';
import type { PlayerAssets } from './media/player-assets.ts';
import type { ArchiveRequestDependencies } from './exports/archive-requests.ts';
import type { RequestLimits } from './http/request-limits.ts';
import type { LtiDependencies } from './lti/dependencies.ts';
import type { ApiMetrics } from './http/metrics.ts';
import type { RateLimits } from './http/middleware/rate-limit.ts';
import { LecternError } from '../shared/platform/errors.ts';
import type { RequestState } from './http/context.ts';
import { clientSignal, logRequests, requestId } from './http/middleware/request-context.ts';
import { apiErrors } from './http/error-format.ts';
import { compressResponses } from './http/middleware/compress-responses.ts';
import { readablePath, requirePlainHost } from './http/middleware/request-target.ts';
import { errorCodes, securityHeaders } from './http/middleware/response-headers.ts';
import { warnOfProxies } from './http/middleware/unexpected-proxy.ts';
import { serveConsole } from './console/serve-console.ts';
import { organizationEndpoints } from './organizations/all-organizations.endpoints.ts';
import {
  changeOrganizationEndpoint,
  getOrganization,
  getStorage,
} from './organizations/organization.endpoints.ts';
import { changeThemeEndpoint, getTheme } from './organizations/theme.endpoints.ts';
import { adminQueues } from './operations/admin-queues.endpoints.ts';
import { getChunk } from './media/content-chunks.endpoints.ts';
import { getEmbedPage } from './embed/embed.endpoints.ts';
import { getOembed } from './embed/oembed.endpoints.ts';
import { getKeySet } from './lti/lti-keys.endpoints.ts';
import { register } from './lti/lti-registration.endpoints.ts';
import { gradeEndpoints } from './lti/grades.endpoints.ts';
import { registrationEndpoints } from './lti/platform-registrations.endpoints.ts';
import { platformEndpoints } from './lti/platforms.endpoints.ts';
import {
  beginLogin,
  continueLogin,
  launch,
  postCheckedLogin,
  postLogin,
  sendSelection,
  previewChoosable,
  showSelection,
} from './lti/lti.endpoints.ts';
import { getAsset } from './media/assets.endpoints.ts';
import { getContentMediaFile, getContentWidgetFile } from './media/content.endpoints.ts';
import { getMediaFile, getWidgetFile } from './media/player-assets.endpoints.ts';
import { openApiEndpoints } from './openapi/openapi.endpoints.ts';
import { isAlive, isReady } from './operations/health.endpoints.ts';
import { getFavicon, getIcon, getStartPage } from './operations/start-page/start-page.endpoints.ts';
import { getEmbedScript, getPlayerFile } from './player/player-files.endpoints.ts';
import {
  getContentUrl,
  getPlayerData,
  getPlayerSession,
  writePlayerSession,
} from './player/player.endpoints.ts';
import { getSession, logIn, logOut } from './accounts/session.endpoints.ts';
import { keyEndpoints } from './accounts/keys.endpoints.ts';
import { passwordEndpoints } from './accounts/passwords.endpoints.ts';
import { twoStepEndpoints } from './accounts/two-step.endpoints.ts';
import { operatorUserEndpoints } from './accounts/operators.endpoints.ts';
import { userEndpoints } from './accounts/users.endpoints.ts';
import { exportManifest } from './exports/export-manifest.endpoints.ts';
import { cancelExport, exportStatus } from './exports/export-status.endpoints.ts';
import { exportZip } from './exports/export-zip.endpoints.ts';
import { cancelExports, listAllExports, listExports, retryExports } from './exports/exports.endpoints.ts';
import { operationEndpoints } from './operations/operation.endpoints.ts';
import type { Endpoint } from './http/endpoint.ts';
import { acceptEmptyParameters, addEndpoints, createRouter } from './http/router.ts';
import { getUserPlayerData } from './lessons/lesson-player-data.endpoints.ts';
import { getLesson, getLessonUses, listLessons, listVersions } from './lessons/lessons.endpoints.ts';
import { answersCsv, learnersCsv, learnersNdjson, listLearners } from './learners/learners.endpoints.ts';
import { getStatistics } from './learners/statistics.endpoints.ts';
import { getLtiProgress, getProgress } from './progress/progress.endpoints.ts';
import { listAudit } from './audit/audit.endpoints.ts';
import { erasureEndpoints } from './erasure/erasures.endpoints.ts';
import { exportLearner, exportLtiLearner } from './erasure/learner-export.endpoints.ts';
import { getRetention, setRetention } from './erasure/retention.endpoints.ts';
import { deliveryEndpoints } from './deliveries/deliveries.endpoints.ts';
import { xapiEndpoints } from './xapi/xapi-destinations.endpoints.ts';
import { webhookEndpoints } from './webhooks/webhooks.endpoints.ts';
import { cancelImportEndpoint, getImport, listImportsEndpoint } from './imports/imports.endpoints.ts';
import { draftEndpoints } from './drafts/drafts.endpoints.ts';
import { mediaLibraryEndpoints } from './media-library/media-library.endpoints.ts';
import { beginImport, readUpload, writeUpload } from './imports/uploads.endpoints.ts';
import { getConversionReport } from './publishing/conversion-report.endpoints.ts';
import { copy, createOne } from './publishing/new-lessons.endpoints.ts';
import { publishingEndpoints } from './publishing/publishing.endpoints.ts';
import { compare } from './publishing/version-changes.endpoints.ts';
import { signToken } from './tokens/sign-token.endpoints.ts';

/** The connections, services and settings of the application. */
export interface AppDependencies {
  config: Config;
  secrets: Secrets;
  db: Database;
  redis: Redis;
  store: Store;
  lessons: PreparedLessons;
  tokenUses: TokenUses;
  /** The player's files for browsers, of this and earlier releases. */
  player: PlayerReleases;
  queue: ExportQueue;
  downloader: Downloader;
  uploads: Uploads;
  exports: ArchiveRequestDependencies;
  playerAssets: PlayerAssets;
  lti: LtiDependencies['lti'];
  subscriptions: Subscriptions;
  audit: AuditLog;
  rateLimits: RateLimits;
  requestLimits: RequestLimits;
  metrics: ApiMetrics;
  readiness: ReadinessProbe;
  /** Aborted at shutdown. Its reason is the error for waiting clients. */
  stopping: AbortSignal;
  log: Logger;
}

/** The endpoints, in the order in which requests match them. */
export const endpoints: readonly Endpoint<AppDependencies>[] = [
  getStartPage,
  getIcon,
  getFavicon,
  isAlive,
  isReady,
  ...openApiEndpoints(() => endpoints),
  signToken,
  getProgress,
  getLtiProgress,
  getPlayerData,
  getPlayerSession,
  writePlayerSession,
  getContentUrl,
  getMediaFile,
  getWidgetFile,
  getContentMediaFile,
  getContentWidgetFile,
  getChunk,
  getAsset,
  getEmbedPage,
  getOembed,
  beginLogin,
  postLogin,
  continueLogin,
  postCheckedLogin,
  launch,
  previewChoosable,
  showSelection,
  sendSelection,
  getKeySet,
  register,
  getPlayerFile,
  getEmbedScript,
  logIn,
  getSession,
  logOut,
  ...twoStepEndpoints,
  ...passwordEndpoints,
  ...userEndpoints,
  ...operatorUserEndpoints,
  ...keyEndpoints,
  getOrganization,
  changeOrganizationEndpoint,
  getStorage,
  getTheme,
  changeThemeEndpoint,
  ...platformEndpoints,
  ...registrationEndpoints,
  ...gradeEndpoints,
  ...organizationEndpoints,
  listVersions,
  getLessonUses,
  compare,
  getConversionReport,
  copy,
  getUserPlayerData,
  listLearners,
  learnersCsv,
  learnersNdjson,
  answersCsv,
  getStatistics,
  exportZip,
  exportManifest,
  exportStatus,
  cancelExport,
  retryExports,
  cancelExports,
  listExports,
  listAllExports,
  ...operationEndpoints,
  // Before getImport, which also matches HEAD.
  readUpload,
  getImport,
  writeUpload,
  cancelImportEndpoint,
  beginImport,
  listImportsEndpoint,
  // After /api/lessons/imports, and before the list.
  getLesson,
  ...publishingEndpoints,
  ...draftEndpoints,
  ...mediaLibraryEndpoints,
  listLessons,
  createOne,
  ...webhookEndpoints,
  ...xapiEndpoints,
  ...deliveryEndpoints,
  ...erasureEndpoints,
  exportLearner,
  exportLtiLearner,
  getRetention,
  setRetention,
  listAudit,
];

/** Returns the HTTP application. */
export function createApp(deps: AppDependencies): Koa<RequestState> {
  const app = new Koa<RequestState>({
    proxy: deps.config.trustProxy > 0,
    maxIpsCount: deps.config.trustProxy,
  });
  app.keys = [deps.secrets.cookie];
  // A client that disconnects ends a stream early; the request log records status 499.
  app.on('error', (error: Error) => deps.log.debug({ err: error }, 'response failed'));

  app.use(requestId);
  app.use(logRequests(deps.log, deps.metrics));
  app.use(warnOfProxies(deps.config, deps.log));
  app.use(clientSignal(deps.stopping));
  app.use(compressResponses);
  app.use(securityHeaders(deps.config));
  app.use(errorCodes);
  app.use(apiErrors().render(deps));
  app.use(readablePath);
  app.use(requirePlainHost);
  if (deps.config.console) app.use(serveConsole(deps.config));
  app.use(adminQueues(deps.config.admin, deps.queue, deps));
  const router = createRouter();
  addEndpoints(router, endpoints, deps);
  app.use(acceptEmptyParameters(router).routes());
  app.use(() => {
    throw new LecternError('NOT_FOUND', 'Not found');
  });
  return app;
}
