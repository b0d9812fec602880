import type { AddressInfo } from 'node:net';
import type { Config } from '../shared/platform/config.ts';
import { withDeadline } from '../shared/platform/time-limits.ts';
import { createDownloader } from '../shared/media/downloads/downloader.ts';
import { LecternError, messageOf } from '../shared/platform/errors.ts';
import type { Logger } from '../shared/platform/log.ts';
import { createLtiKeys } from '../shared/lti/keys.ts';
import { createPlatformClient } from '../shared/lti/platform-requests.ts';
import { buildIndexes, openDatabase } from '../shared/models/database.ts';
import { createReadinessProbe } from '../shared/operations/checks.ts';
import { registerQueueMetrics } from '../shared/operations/queue-metrics.ts';
import { registerDeliveryMetrics } from '../shared/operations/delivery-metrics.ts';
import { registerScoreMetrics } from '../shared/operations/score-metrics.ts';
import { startOperationsServer } from '../shared/operations/server.ts';
import type { OperationsServer } from '../shared/operations/server.ts';
import { playerRelease } from '../shared/player/player-release.ts';
import { PreparedLessons } from '../shared/player/prepared-lessons.ts';
import { taskWait } from '../shared/platform/tasks.ts';
import { createExportEvents, ExportQueue } from '../shared/exports/queues.ts';
import { MongoLastUses } from '../shared/models/file-use.ts';
import { joinInstallation } from '../shared/models/installation.ts';
import { connectRedis } from '../shared/platform/redis.ts';
import { loadSecrets } from '../shared/platform/secrets.ts';
import type { ServerUrls } from '../shared/embedded/embedded-servers.ts';
import { IncompleteBuilds } from '../shared/exports/incomplete-builds.ts';
import type { Shutdown } from '../shared/platform/graceful-shutdown.ts';
import { createUploads } from '../shared/imports/create-uploads.ts';
import { createStore } from '../shared/storage/create-store.ts';
import { createApp } from './app.ts';
import type { AppDependencies } from './app.ts';
import { maxPlayerDownloads } from './media/external-media.ts';
import { PlayerAssets } from './media/player-assets.ts';
import { createHttpServer, prepareGracefulClose, serverLimits } from './http/http-server.ts';
import { ConcurrencyLimit } from '../shared/platform/concurrency-limit.ts';
import { ExportChanges } from './exports/export-changes.ts';
import { RequestLimits } from './http/request-limits.ts';
import { LaunchMetrics } from './lti/dependencies.ts';
import { createPlatformKeys } from './lti/platform-keys.ts';
import { AuditLog } from '../shared/audit/audit-log.ts';
import { Subscriptions } from '../shared/outgoing/subscriptions.ts';
import { ApiMetrics } from './http/metrics.ts';
import { createRateLimits } from './http/middleware/rate-limit.ts';
import { PlayerReleases } from './player/player-releases.ts';
import { TokenUses } from './player/token-uses.ts';
import { readinessChecks } from './operations/health.endpoints.ts';
import { recordRunningApi } from '../shared/operations/running-api.ts';
import { retryAfterSeconds } from './http/retry-after.ts';

/** The timeout of closing queues at shutdown. */
const closeTimeoutMs = 2_000;

interface ApiPorts {
  port: number;
  /** Undefined if METRICS_PORT is not set. */
  metricsPort: number | undefined;
}

/**
 * Connects, listens, and registers the shutdown steps.
 *
 * @returns the ports it listens on.
 * @throws {LecternError} that names the server that does not respond, the missing build or the used port, and the
 * remedy.
 */
export async function startApi(
  config: Config,
  servers: ServerUrls,
  { log, shutdown }: { log: Logger; shutdown: Shutdown },
): Promise<ApiPorts> {
  const secrets = await loadSecrets(config, (message) => log.warn(message));
  const ownPlayer = await playerRelease();
  const db = await openDatabase(servers.mongodbUri);
  const store = await createStore(config, new MongoLastUses(db));
  await store.check();
  await buildIndexes(db);
  await joinInstallation({ db, store, secrets }, (message) => log.warn(message));
  const player = new PlayerReleases(db, ownPlayer);
  await player.announce();
  const redis = await connectRedis(servers.redisUrl);
  const queue = new ExportQueue(redis, config);
  const events = createExportEvents(servers.redisUrl, config);

  const downloader = createDownloader(config.download, {}, maxPlayerDownloads);
  const lessons = new PreparedLessons(db, config.playerCacheBytes, taskWait);
  const playerAssets = new PlayerAssets({ db, lessons, store, downloader, config, log });
  const metrics = new ApiMetrics();
  const platforms = createPlatformClient(config.download);
  const lti = {
    client: platforms,
    keys: createLtiKeys(db, secrets),
    platformKeys: createPlatformKeys(platforms),
    launches: new LaunchMetrics(metrics.registry),
  };
  const exports = {
    db,
    archives: store.archives,
    queue,
    changes: new ExportChanges(events),
    waits: new ConcurrencyLimit({
      concurrent: config.export.waitsPerOrganization,
      ...{ waiting: 0, refusal: 'Too many requests wait for exports' },
    }),
    incomplete: new IncompleteBuilds(redis, config.redisPrefix),
    config,
    log,
  };
  registerQueueMetrics(metrics.registry, queue);
  // The API reports these too, so that operators see unsent grades and events when no worker runs.
  registerScoreMetrics(metrics.registry, db);
  registerDeliveryMetrics(metrics.registry, db);
  const audit = new AuditLog({ db, log });
  const stopping = new AbortController();
  const readiness = createReadinessProbe(readinessChecks({ db, redis, store }), stopping.signal, log);
  const deps: AppDependencies = {
    config,
    secrets,
    db,
    redis,
    store,
    lessons,
    tokenUses: new TokenUses(audit, secrets),
    player,
    queue,
    downloader,
    uploads: await createUploads(config, db),
    exports,
    playerAssets,
    lti,
    subscriptions: new Subscriptions(db),
    audit,
    rateLimits: createRateLimits(config),
    requestLimits: new RequestLimits(),
    metrics,
    readiness,
    log,
    stopping: stopping.signal,
  };
  const app = createApp(deps);
  const handle = app.callback();
  const server = createHttpServer((...exchange) => void handle(...exchange), serverLimits(config), log);
  const closeServer = prepareGracefulClose(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(describeListenError(error, config.port)));
    server.listen(config.port, config.host, resolve);
  });

  const operations = await startApiOperations(config, { metrics, readiness, log });

  shutdown.add('http', () => {
    const closed = closeServer();
    // Downloads finish. Clients that wait for a build retry with another process.
    stopping.abort(
      new LecternError('INTERNAL_ERROR', 'This process is shutting down', { retryAfterSeconds }),
    );
    return closed;
  });
  shutdown.add('downloads', () => playerAssets.close().finally(() => downloader.close()));
  shutdown.add('platforms', () => Promise.resolve(platforms.close()));
  shutdown.add('queue', async () => {
    // BullMQ waits for the end of a connection, but a connection that is reconnecting emits none.
    const closed = Promise.all([events.close(), queue.close()]);
    await withDeadline(closed, { timeoutMs: closeTimeoutMs }).finally(() => redis.disconnect());
  });
  shutdown.add('audit log', () => withDeadline(audit.close(), { timeoutMs: closeTimeoutMs }));
  shutdown.add('mongodb', () => db.connection.close());
  shutdown.add('operations', () => operations?.close() ?? Promise.resolve());
  return { port: (server.address() as AddressInfo).port, metricsPort: operations?.port };
}

/** Starts the private server for metrics and probes; returns null if METRICS_PORT is not set. */
async function startApiOperations(
  config: Config,
  { metrics, readiness, log }: Pick<AppDependencies, 'metrics' | 'readiness' | 'log'>,
): Promise<OperationsServer | null> {
  const { host, metricsPort: port } = config;
  if (port === undefined) return null;
  return startOperationsServer({ host, port, registry: metrics.registry, readiness, log });
}

function describeListenError(error: Error, port: number): Error {
  if (!('code' in error) || error.code !== 'EADDRINUSE') return error;
  return new LecternError(
    'INTERNAL_ERROR',
    `Port ${port} is in use (${messageOf(error)}). Stop the process that uses it, or set PORT to a free one.`,
    { cause: error },
  );
}

/** Starts the API of a process, and records its URL. */
export async function startApiProcess(
  config: Config,
  servers: ServerUrls,
  deps: { log: Logger; shutdown: Shutdown },
): Promise<{ port: number; metricsPort: number | undefined }> {
  const { log } = deps;
  const { publicUrl, host } = config;
  if (publicUrl?.startsWith('http:') && !isLoopback(publicUrl))
    log.warn({ publicUrl }, 'PUBLIC_URL is not HTTPS: credentials and tokens travel in the clear');
  if (config.admin !== undefined && config.session.twoStep !== 'optional')
    log.warn(
      'ADMIN_PASSWORD opens the queue board without two-step login; operators need only their session',
    );
  const { port, metricsPort } = await startApi(config, servers, deps);
  if (publicUrl === undefined) await recordUrl(config, port, deps);
  log.info({ port, metricsPort, host }, 'listening');
  return { port, metricsPort };
}

/** Records this process's URL, so that commands in other terminals can print links. A failure is only logged. */
async function recordUrl(
  config: Config,
  port: number,
  { log, shutdown }: { log: Logger; shutdown: Shutdown },
): Promise<void> {
  try {
    shutdown.add('record', await recordRunningApi(config, port));
  } catch (error) {
    log.warn({ err: error }, 'the data directory is not writable, so commands may print wrong links');
  }
}

function isLoopback(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}
