import {
  endUpload,
  listLeftUploads,
  quietUploads,
  markUploadDeleted,
  queueImport,
} from '../../shared/models/lesson-import.ts';
import { isImportRunning } from '../../shared/models/import-queue.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Uploads } from '../../shared/imports/uploads.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';

const sweepIntervalMs = 30_000;

/** Longer than an API process needs between the last byte and the queue. */
const quietMs = 60_000;

/** Deleted files per sweep. */
const batch = 200;

interface SweepDependencies {
  db: Database;
  uploads: Uploads;
  config: Pick<Config, 'import'>;
  log: Logger;
}

/**
 * Completes the work of processes that died, every 30 seconds: queues complete uploads, ends those without a byte for
 * IMPORT_UPLOAD_HOURS, and deletes the files of ended imports and the copies that killed workers left on this machine.
 * Workers may sweep at the same time.
 */
export function startUploadSweep(deps: SweepDependencies): Repetition {
  return repeat(
    () => sweepUploads(deps),
    sweepIntervalMs,
    (error) => deps.log.warn({ err: error }, 'sweeping uploads failed; the next sweep retries'),
  );
}

/** @param now the time, in milliseconds; tests replace it. */
export async function sweepUploads(
  { db, uploads, config }: Omit<SweepDependencies, 'log'>,
  now = Date.now(),
): Promise<void> {
  const expired = now - config.import.uploadHours * 3_600_000;
  for await (const { _id: id, size, changedAt } of quietUploads(db, new Date(now - quietMs))) {
    if ((await uploads.receivedBytes(id)) === size) {
      await uploads.sync(id);
      await queueImport(db, id);
    } else if (changedAt.getTime() <= expired) {
      const message = `The upload got no bytes for ${config.import.uploadHours} hours. Begin it again.`;
      await endUpload(db, id, { state: 'failed', error: { code: 'REQUEST_TIMEOUT', message } });
    }
  }
  for (const { _id: id } of await listLeftUploads(db, batch)) {
    await uploads.remove(id);
    await markUploadDeleted(db, id);
  }
  await uploads.removeLeftCopies((run) => isImportRunning(db, run));
}
