import type { Config } from '../shared/platform/config.ts';
import { createDownloader } from '../shared/media/downloads/downloader.ts';
import type { Logger } from '../shared/platform/log.ts';
import { createLtiKeys } from '../shared/lti/keys.ts';
import { createPlatformClient } from '../shared/lti/platform-requests.ts';
import { createServiceTokens } from '../shared/lti/service-token.ts';
import { buildIndexes, openDatabase } from '../shared/models/database.ts';
import { startLimitingRows } from '../shared/outgoing/row-limits.ts';
import { makeUpdates } from '../shared/outgoing/progress-rows.ts';
import { makeStatements } from '../shared/outgoing/statement-rows.ts';
import { registerDeliveryMetrics } from '../shared/operations/delivery-metrics.ts';
import { registerScoreMetrics } from '../shared/operations/score-metrics.ts';
import { MongoLastUses } from '../shared/models/file-use.ts';
import { joinInstallation } from '../shared/models/installation.ts';
import { connectOptionalRedis } from '../shared/platform/redis.ts';
import { startDueWork } from '../shared/platform/repeat.ts';
import { loadSecrets } from '../shared/platform/secrets.ts';
import type { ServerUrls } from '../shared/embedded/embedded-servers.ts';
import { IncompleteBuilds } from '../shared/exports/incomplete-builds.ts';
import type { Shutdown } from '../shared/platform/graceful-shutdown.ts';
import { enqueuePrebuild } from '../shared/exports/enqueue.ts';
import { exportJobOf } from '../shared/exports/jobs.ts';
import { ExportQueue } from '../shared/exports/queues.ts';
import { createUploads } from '../shared/imports/create-uploads.ts';
import { AuditLog } from '../shared/audit/audit-log.ts';
import { erasuresInTurn } from '../shared/erasure/erase.ts';
import { countInTurn } from '../shared/learners/count-learners.ts';
import { runRetention } from '../shared/erasure/retention.ts';
import { createStore } from '../shared/storage/create-store.ts';
import { readStoreLimits } from '../shared/storage/store-limits.ts';
import { WorkerMetrics } from './exports/metrics.ts';
import { startWorkerOperations, watchWorker } from './operations/operations-server.ts';
import { createDeliveryWorker } from './deliveries/delivery-worker.ts';
import { scoreFormat } from './deliveries/scores.ts';
import { observeDeliveries } from './deliveries/delivery-sender.ts';
import { webhookFormat } from './deliveries/webhooks.ts';
import { xapiFormat } from './deliveries/xapi.ts';
import { createImportWorker, observeImports } from './imports/import-worker.ts';
import { startUploadSweep } from './imports/sweep-uploads.ts';
import { startSweeping } from './maintenance/sweep.ts';
import { PreparedLessons } from '../shared/player/prepared-lessons.ts';
import { createExportWorker, drainMs } from './exports/export-worker.ts';
import type { ExportWorker } from './exports/export-worker.ts';
import { FollowUps } from './exports/follow-ups.ts';

/** The size of the cache of outlines, for counting learners. */
const outlineCacheBytes = 16 * 1024 ** 2;

/**
 * Starts a worker, and registers its graceful shutdown.
 *
 * @returns the port of its health checks and metrics, if it has one.
 * @throws {LecternError} that names the server that does not respond, and the remedy.
 */
export async function startWorker(
  config: Config,
  servers: ServerUrls,
  { log, shutdown }: { log: Logger; shutdown: Shutdown },
): Promise<number | undefined> {
  const secrets = await loadSecrets(config, (message) => log.warn(message));
  const db = await openDatabase(servers.mongodbUri);
  const store = await createStore(config, new MongoLastUses(db));
  const limits = await readStoreLimits(config, store);
  await store.check();
  await buildIndexes(db);
  await joinInstallation({ db, store, secrets }, (message) => log.warn(message));
  const metrics = new WorkerMetrics({ slots: config.worker.concurrency, running: () => worker.builds() });
  const downloader = metrics.countDownloads(createDownloader(config.download));
  const redis = await connectOptionalRedis(servers.redisUrl, (message) => log.warn(message));
  const sweeping = startSweeping({ db, store, redis, limits, observer: metrics, config, log });
  const followUps = new FollowUps(log);
  const worker: ExportWorker = createExportWorker(servers.redisUrl, {
    followUps,
    db,
    store,
    downloader,
    incomplete: new IncompleteBuilds(redis, config.redisPrefix),
    observer: metrics,
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
  const observeAttempts = observeDeliveries(metrics.registry);
  const scores = createDeliveryWorker(scoreFormat(db, gradeService), {
    ...{ observeAttempt: observeAttempts('grade'), log },
  });
  const senders = { db, secrets, config, log };
  // Without a public URL, ids in statements name a host that does not exist.
  const publicUrl = config.publicUrl ?? 'http://lectern.invalid';
  const webhooks = createDeliveryWorker(webhookFormat(senders), {
    ...{ observeAttempt: observeAttempts('webhook'), log },
    prepare: (signal) => makeUpdates({ db, log }, signal),
  });
  const making = { db, publicUrl, pepper: secrets.keyPepper, log };
  const statements = createDeliveryWorker(xapiFormat(senders), {
    ...{ observeAttempt: observeAttempts('xapi'), log },
    prepare: (signal) => makeStatements(making, signal),
  });
  const uploads = await createUploads(config, db);
  const imports = createImportWorker({
    ...{ db, store, uploads, config, log, slots: config.worker.importConcurrency },
    observeRun: observeImports(metrics.registry),
    prebuild: async (version) => {
      if (!config.export.prebuild) return;
      const queue = new ExportQueue(redis, config);
      try {
        await enqueuePrebuild(queue, exportJobOf(version));
      } catch (error) {
        log.warn({ err: error }, 'the archive is not prebuilt');
      } finally {
        await queue.close();
      }
    },
  });
  const rowLimits = startLimitingRows({ db, redis, config, registry: metrics.registry, log });
  const uploadSweep = startUploadSweep({ db, uploads, config, log });
  const statistics = startDueWork({
    ...{ name: 'statistics', pollIntervalMs: 1_000, log },
    next: countInTurn({ db, lessons: new PreparedLessons(db, outlineCacheBytes) }),
  });
  const stopping = new AbortController();
  const pepper = secrets.keyPepper;
  const erasures = startDueWork({
    ...{ name: 'erasures', pollIntervalMs: 1_000, log },
    next: erasuresInTurn({ db, store, pepper }),
  });
  const audit = new AuditLog({ db, log });
  const retention = startDueWork({
    ...{ name: 'retention', pollIntervalMs: 60_000, log },
    next: () => runRetention({ db, audit }, stopping.signal),
  });
  const watchdog = watchWorker(worker, { config, log, shutdown });

  shutdown.add('readiness', () => Promise.resolve(stopping.abort()));
  shutdown.add('watchdog', () => Promise.resolve(watchdog?.stop()));
  // They accept no more work, and finish their current work.
  shutdown.add('worker', () =>
    Promise.all([
      worker.close(),
      ...[imports, scores, webhooks, statements].map((work) => work.close(drainMs(config))),
    ]),
  );
  shutdown.add('sweeping', () => Promise.all([sweeping.stop(), uploadSweep.stop(), rowLimits.stop()]));
  shutdown.add('statistics', () => statistics.stop());
  shutdown.add('erasures', () => Promise.all([erasures.stop(), retention.stop()]));
  shutdown.add('downloads', () => followUps.close().finally(() => downloader.close()));
  shutdown.add('platforms', () => Promise.resolve(platforms.close()));
  shutdown.add('redis', () => Promise.resolve(redis.disconnect()));
  shutdown.add('mongodb', () => db.connection.close());

  const parts = { worker, watchdog, metrics, db, store, log, stopping: stopping.signal };
  const operations = await startWorkerOperations(config, parts);
  shutdown.add('operations', () => operations?.close() ?? Promise.resolve());
  // Last, because a process that fails to start must not take any job.
  worker.start();
  imports.start();
  scores.start();
  webhooks.start();
  statements.start();
  return operations?.port;
}
