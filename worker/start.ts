import type { Config } from '../shared/platform/config.ts';
import { createDownloader } from '../shared/media/downloads/downloader.ts';
import type { Logger } from '../shared/platform/log.ts';
import { createLtiKeys } from '../shared/lti/keys.ts';
import { createPlatformClient } from '../shared/lti/platform-requests.ts';
import { createServiceTokens } from '../shared/lti/service-token.ts';
import { buildIndexes, openDatabase } from '../shared/models/database.ts';
import { registerDeliveryMetrics } from '../shared/operations/delivery-metrics.ts';
import { registerScoreMetrics } from '../shared/operations/score-metrics.ts';
import { connectOptionalRedis } from '../shared/platform/redis.ts';
import { loadSecrets } from '../shared/platform/secrets.ts';
import type { Servers } from '../shared/embedded/servers.ts';
import { createCoordination } from '../shared/coordination/coordination.ts';
import { trackUsage } from '../shared/storage/tracked-store.ts';
import type { Shutdown } from '../shared/platform/shutdown.ts';
import { createStore } from '../shared/storage/create-store.ts';
import { readStoreLimits } from '../shared/storage/store-limits.ts';
import { Builds } from './exports/builds.ts';
import { Evictor } from './maintenance/eviction/evictor.ts';
import type { Evicted } from './maintenance/eviction/evictor.ts';
import { WorkerMetrics } from './exports/metrics.ts';
import { startWorkerOperations, watchWorker } from './operations/operations-server.ts';
import { createDeliveryWorker } from './deliveries/delivery-worker.ts';
import { observeScoreAttempts, scoreOutbox } from './deliveries/scores.ts';
import { observeDeliveries } from './deliveries/delivery-metrics.ts';
import { webhookOutbox } from './deliveries/webhooks.ts';
import { xapiOutbox } from './deliveries/xapi.ts';
import { startSweeping } from './maintenance/sweep.ts';
import { createExportWorker, drainMs } from './exports/export-worker.ts';

/**
 * Starts a worker, and registers its graceful shutdown.
 *
 * @returns the port of its health checks and metrics, if it has one.
 * @throws {LecternError} that names the server that does not answer, and the remedy.
 */
export async function startWorker(
  config: Config,
  servers: Servers,
  { log, shutdown }: { log: Logger; shutdown: Shutdown },
): Promise<number | undefined> {
  const secrets = await loadSecrets(config, (message) => log.warn(message));
  const plainStore = await createStore(config);
  const limits = await readStoreLimits(config, plainStore);
  await plainStore.check();
  const db = await openDatabase(servers.mongodbUri);
  await buildIndexes(db);
  const builds = new Builds();
  const metrics = new WorkerMetrics({ slots: config.worker.concurrency, running: () => builds.size });
  const downloader = metrics.countDownloads(createDownloader(config.download));
  const redis = await connectOptionalRedis(servers.redisUrl);
  const coordination = createCoordination(redis, config);
  const store = trackUsage(plainStore, coordination.usage);
  const evictor = new Evictor({ db, store, redis, incomplete: coordination.incomplete, limits, config });
  const onEvicted = (evicted: Evicted) => metrics.evicted(evicted);
  const sweeping = startSweeping({ db, store, redis, evictor, onEvicted, config, log });
  const worker = createExportWorker(servers.redisUrl, {
    db,
    store,
    downloader,
    coordination,
    makeRoom: async (bytes) => {
      const evicted = await evictor.makeRoom(bytes);
      if (evicted !== null) onEvicted(evicted);
    },
    observer: metrics,
    builds,
    metrics,
    config,
    log,
  });
  await worker.ready();
  const platforms = createPlatformClient(config.download);
  registerScoreMetrics(metrics.registry, db);
  registerDeliveryMetrics(metrics.registry, db);
  const gradeService = {
    client: platforms,
    tokens: createServiceTokens({ client: platforms, keys: createLtiKeys(db, secrets) }),
  };
  const scores = createDeliveryWorker(servers.redisUrl, scoreOutbox(db, gradeService, log), {
    ...{ redis, config, log },
    observeAttempt: observeScoreAttempts(metrics.registry),
  });
  const senders = { db, secrets, config, log };
  const observeAttempts = observeDeliveries(metrics.registry);
  // Without a public URL, ids in statements name a host that does not exist.
  const publicUrl = config.publicUrl ?? 'http://lectern.invalid';
  const webhooks = createDeliveryWorker(servers.redisUrl, webhookOutbox({ ...senders, publicUrl }), {
    ...{ redis, config, log },
    observeAttempt: observeAttempts('webhook'),
  });
  const statements = createDeliveryWorker(servers.redisUrl, xapiOutbox(senders), {
    ...{ redis, config, log },
    observeAttempt: observeAttempts('xapi'),
  });
  const watchdog = watchWorker(worker, { config, log, shutdown });

  const stopping = new AbortController();
  shutdown.add('readiness', () => Promise.resolve(stopping.abort()));
  shutdown.add('watchdog', () => Promise.resolve(watchdog?.stop()));
  // They accept no more work, and finish their current work.
  shutdown.add('worker', () =>
    Promise.all([
      worker.close(),
      ...[scores, webhooks, statements].map((outbox) => outbox.close(drainMs(config))),
    ]),
  );
  shutdown.add('sweeping', () => sweeping.stop());
  shutdown.add('downloads', () => Promise.resolve(downloader.close()));
  shutdown.add('platforms', () => Promise.resolve(platforms.close()));
  shutdown.add('redis', () => {
    coordination.usage.close();
    redis.disconnect();
    return Promise.resolve();
  });
  shutdown.add('mongodb', () => db.connection.close());

  const parts = { worker, watchdog, metrics, db, store, log, stopping: stopping.signal };
  const operations = await startWorkerOperations(config, parts);
  shutdown.add('operations', () => operations?.close() ?? Promise.resolve());
  // Last, because a process that fails to start must not take any job.
  worker.start();
  scores.start();
  webhooks.start();
  statements.start();
  return operations?.port;
}
