import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Database } from '../../shared/models/database.ts';
import { pingMongo } from '../../shared/platform/mongo.ts';
import { createReadinessProbe } from '../../shared/operations/checks.ts';
import { startOperationsServer } from '../../shared/operations/server.ts';
import type { OperationsServer } from '../../shared/operations/server.ts';
import type { Shutdown } from '../../shared/platform/graceful-shutdown.ts';
import type { Store } from '../../shared/storage/store.ts';
import type { WorkerMetrics } from '../exports/metrics.ts';
import { startWatchdog } from '../maintenance/watchdog.ts';
import type { Watchdog } from '../maintenance/watchdog.ts';
import type { ExportWorker } from '../exports/export-worker.ts';

/**
 * Starts the watchdog of a worker, which ends the process if its connection to Redis is stuck; returns null if it is
 * disabled.
 */
export function watchWorker(
  worker: ExportWorker,
  { config, log, shutdown }: { config: Pick<Config, 'worker'>; log: Logger; shutdown: Shutdown },
): Watchdog | null {
  const seconds = config.worker.watchdogSeconds;
  if (seconds === 0) return null;
  const onStuck = () => void shutdown.end('the connection to Redis is stuck', 1);
  return startWatchdog(worker.watched, { seconds, log, onStuck });
}

/** Starts the server of a worker's health checks and metrics; null if WORKER_PORT is not set. */
export async function startWorkerOperations(
  config: Config,
  {
    worker,
    watchdog,
    metrics,
    db,
    store,
    log,
    stopping,
  }: {
    worker: ExportWorker;
    watchdog: Watchdog | null;
    metrics: WorkerMetrics;
    db: Database;
    store: Store;
    log: Logger;
    /** Aborted when the process begins to shut down. */
    stopping: AbortSignal;
  },
): Promise<OperationsServer | null> {
  const { port } = config.worker;
  if (port === undefined) return null;
  const checks = {
    mongodb: { required: true, run: () => pingMongo(db.connection) },
    redis: { run: () => worker.ping() },
    store: { run: () => store.ping() },
    queue: {
      run: () =>
        watchdog?.stuck() === true
          ? Promise.reject(new Error('waiting jobs do not start'))
          : Promise.resolve(),
    },
  };
  const readiness = createReadinessProbe(checks, stopping, log);
  return startOperationsServer({ host: config.host, port, registry: metrics.registry, readiness, log });
}
