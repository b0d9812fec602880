import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import {
  claimImport,
  endImport,
  listWaitingOrganizations,
  renewImport,
  requeueImport,
} from '../../shared/models/import-queue.ts';
import type { ImportLease } from '../../shared/models/import-queue.ts';
import { markUploadDeleted } from '../../shared/models/lesson-import.ts';
import type { LessonImport } from '../../shared/models/lesson-import.ts';
import { backoffMs } from '../../shared/platform/backoff.ts';
import { LecternError, messageOf } from '../../shared/platform/errors.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';
import { runImport, runMediaUpload } from './run-import.ts';
import type { RunDependencies } from './run-import.ts';

/** Without renewal for this long, another worker starts the import again. */
const leaseMs = 30_000;

const renewIntervalMs = 1_000;
const pollIntervalMs = 1_000;

/** The maximum number of attempts that fail for a reason other than the package. */
const maxFailures = 3;

/** The limit for a package that kills its workers. */
const maxStarts = 10;

const retry = { firstMs: 2_000, maxMs: 60_000 };

class ImportCanceled extends Error {}
class LeaseLost extends Error {}
class ShuttingDown extends Error {}

export interface ImportWorker {
  start(): void;
  /** Starts no more imports, and resolves when none runs. After the timeout, running imports go back to the queue. */
  close(timeoutMs: number): Promise<void>;
}

interface Running {
  organizationId: string;
  stop: AbortController;
  done: Promise<void>;
}

/** How a run of an import ended. After `retried`, `given_back` and `lost`, a worker runs it again. */
export type ImportOutcome =
  | 'imported'
  | 'rejected'
  | 'canceled'
  | 'failed'
  | 'retried'
  | 'given_back'
  | 'lost';

/**
 * Imports uploaded packages: polls MongoDB for queued ones while it has a free slot. Its last free slot is reserved for
 * organizations without an import running on it.
 *
 * @param deps.slots concurrent imports of this worker.
 * @param deps.observeRun called with the outcome of each run, and its seconds.
 */
export function createImportWorker(
  deps: RunDependencies & {
    slots: number;
    observeRun: (outcome: ImportOutcome, seconds: number) => void;
    log: Logger;
  },
): ImportWorker {
  const { db, slots, observeRun, log } = deps;
  const running = new Set<Running>();
  let polling: Repetition | null = null;

  const begin = (claimed: LessonImport & ImportLease) => {
    const stop = new AbortController();
    const one: Running = { organizationId: claimed.organizationId, stop, done: Promise.resolve() };
    running.add(one);
    const started = Date.now();
    one.done = process(deps, claimed, stop)
      .then((outcome) => observeRun(outcome, (Date.now() - started) / 1000))
      .catch((error: unknown) =>
        log.warn({ err: error, import: claimed._id }, 'an import could not be ended'),
      )
      .finally(() => {
        running.delete(one);
        polling?.run();
      });
  };
  const take = async (signal: AbortSignal) => {
    if (running.size >= slots) return;
    for (const { organizationId, next } of await listWaitingOrganizations(db)) {
      if (signal.aborted || running.size >= slots) return;
      const holdsSlot = [...running].some((one) => one.organizationId === organizationId);
      if (holdsSlot && slots - running.size < 2) continue;
      const claimed = await claimImport(db, next, leaseMs);
      if (claimed !== null) begin(claimed);
    }
  };
  return {
    start() {
      if (slots === 0) return;
      polling = repeat(take, pollIntervalMs, (error) =>
        log.warn({ err: error }, 'reading queued imports failed; the next poll retries'),
      );
    },
    async close(timeoutMs) {
      await polling?.stop();
      const late = setTimeout(() => {
        for (const { stop } of running) stop.abort(new ShuttingDown('this process is shutting down'));
      }, timeoutMs);
      await Promise.all([...running].map(({ done }) => done));
      clearTimeout(late);
    },
  };
}

/** Runs a claimed import to its end, or back into the queue. */
async function process(
  deps: RunDependencies & { log: Logger },
  claimed: LessonImport & ImportLease,
  stop: AbortController,
): Promise<ImportOutcome> {
  const { db } = deps;
  const log = deps.log.child({ import: claimed._id });
  const started = Date.now();
  if (claimed.starts > maxStarts) {
    const message = `Given up after ${maxStarts} starts: each time the worker ended before the import did`;
    await endImport(db, claimed, { state: 'failed', error: { code: 'INTERNAL_ERROR', message } });
    return 'failed';
  }
  let { progress } = claimed;
  let outcome: ImportOutcome = 'imported';
  const renewing = renewLease(deps, claimed, stop, () => progress);
  try {
    const run = { signal: stop.signal, onProgress: (latest: typeof progress) => (progress = latest) };
    const result = claimed.options.asMedia
      ? { mediaFileId: await runMediaUpload(deps, claimed, stop.signal) }
      : { report: await runImport(deps, claimed, run) };
    renewing.end();
    // False if another worker took over: it finds the version, and needs the file.
    if (!(await endImport(db, claimed, { state: 'imported', ...result, progress }))) return 'lost';
    const made = { lesson: result.report?.lessonId, media: result.mediaFileId };
    log.info({ ...made, milliseconds: Date.now() - started }, 'package imported');
  } catch (error) {
    renewing.end();
    const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
    outcome = await endFailed(db, claimed, reason, log);
    if (!finalOutcomes.includes(outcome)) return outcome;
  }
  // If this fails, a later sweep deletes the file.
  await deps.uploads.remove(claimed._id);
  await markUploadDeleted(db, claimed._id);
  return outcome;
}

const finalOutcomes: readonly ImportOutcome[] = ['canceled', 'rejected', 'failed'];

/** Ends a run that an error has stopped: ends the import, or returns it to the queue. */
async function endFailed(
  db: RunDependencies['db'],
  claimed: LessonImport & ImportLease,
  error: unknown,
  log: Logger,
): Promise<ImportOutcome> {
  if (error instanceof LeaseLost) {
    log.warn('import left to another worker: the lease was lost');
    return 'lost';
  }
  if (error instanceof ShuttingDown) {
    await requeueImport(db, claimed, { delayMs: 0, failed: false });
    log.info('import returned to the queue');
    return 'given_back';
  }
  if (error instanceof ImportCanceled) {
    await endImport(db, claimed, { state: 'canceled' });
    log.info('import canceled');
    return 'canceled';
  }
  if (error instanceof LecternError && error.expose) {
    const { code, message } = error;
    await endImport(db, claimed, { state: 'failed', error: { code, message } });
    log.info({ code }, 'package rejected');
    return 'rejected';
  }
  if (claimed.failures + 1 >= maxFailures) {
    log.error({ err: error }, 'import failed');
    const message = 'The import failed on the server. Try again later.';
    await endImport(db, claimed, { state: 'failed', error: { code: 'INTERNAL_ERROR', message } });
    return 'failed';
  }
  log.warn({ err: error, reason: messageOf(error) }, 'import failed; it is tried again');
  await requeueImport(db, claimed, { delayMs: backoffMs(retry, claimed.failures), failed: true });
  return 'retried';
}

/** Renews the lease of an import and stores its progress, until it ends. Stops the import if it must not continue. */
function renewLease(
  { db, log }: { db: RunDependencies['db']; log: Logger },
  lease: ImportLease,
  stop: AbortController,
  progress: () => LessonImport['progress'],
): { end(): void } {
  let renewedAt = Date.now();
  let isRenewing = false;
  const renew = async () => {
    if (isRenewing) return;
    isRenewing = true;
    try {
      const isCanceled = await renewImport(db, lease, { leaseMs, progress: progress() });
      renewedAt = Date.now();
      if (isCanceled === null) stop.abort(new LeaseLost('the lease of the import was lost'));
      if (isCanceled === true) stop.abort(new ImportCanceled('the import was canceled'));
    } catch (error) {
      log.warn({ err: error }, 'the lease of an import could not be renewed');
      // Another worker may start it now.
      if (Date.now() - renewedAt > leaseMs) stop.abort(new LeaseLost('the lease of the import was lost'));
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(() => void renew(), renewIntervalMs);
  return { end: () => clearInterval(timer) };
}

/** From a small package to one of many gigabytes. */
const runBuckets = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** Adds this process's imports to a registry; returns a function that counts a run. */
export function observeImports(registry: Registry): (outcome: ImportOutcome, seconds: number) => void {
  const runs = new Histogram({
    name: 'lectern_import_seconds',
    help: 'Time of importing an uploaded package, by outcome.',
    labelNames: ['outcome'],
    buckets: runBuckets,
    registers: [registry],
  });
  // Alerts need a series that exists before its first failure.
  for (const outcome of ['failed', 'retried']) runs.zero({ outcome });
  return (outcome, seconds) => runs.observe({ outcome }, seconds);
}
