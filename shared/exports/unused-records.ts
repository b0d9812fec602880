import type { ExportRecordDb } from '../models/export-record.ts';
import { keepRecord, listLongestUnused, removeRecord, sumRecordBytes } from '../models/export-record-use.ts';
import type { RecordUse } from '../models/export-record-use.ts';
import type { Store } from '../storage/store.ts';

/*
 * Each combination of version, format and options that was ever exported has a record, so that a rebuild gives the same
 * bytes. Without limits, records of evicted archives would fill the database.
 */

/** How long a record is kept after its archive was last built, or last found in the store. */
const keptMs = 180 * 24 * 3600_000;

/** The maximum size of an organization's records: about 10,000 records of lessons with 100 files. */
const maxBytes = 128 * 1024 ** 2;

/** The number of records that a build checks: more than it adds, so that the sum falls below the limit. */
const checkedPerBuild = 10;

/** The number of records that a sweep checks at once. */
const batchSize = 100;

export interface RecordDependencies {
  db: ExportRecordDb;
  store: Pick<Store, 'archives'>;
}

/**
 * Removes an organization's longest unused records if they take too many bytes. Records of stored archives stay: limits
 * of the store bound them.
 */
export async function limitRecords(
  deps: RecordDependencies,
  organizationId: string,
  limit = maxBytes,
): Promise<void> {
  if ((await sumRecordBytes(deps.db, organizationId)) <= limit) return;
  const records = await listLongestUnused(deps.db, { organizationId }, checkedPerBuild);
  for (const record of records) await removeUnlessNeeded(deps, record);
}

/** Removes the records that no build has used for a long time, and whose archives the store no longer has. */
export async function removeUnusedRecords(deps: RecordDependencies, signal: AbortSignal): Promise<number> {
  const usedBefore = new Date(Date.now() - keptMs);
  let removed = 0;
  for (;;) {
    const records = await listLongestUnused(deps.db, { usedBefore }, batchSize);
    for (const record of records) {
      signal.throwIfAborted();
      if (await removeUnlessNeeded(deps, record)) removed += 1;
    }
    if (records.length < batchSize) return removed;
  }
}

/**
 * Removes a record, or counts it as used if it is needed, so that the next check covers others. Returns whether it was
 * removed.
 */
async function removeUnlessNeeded({ db, store }: RecordDependencies, record: RecordUse): Promise<boolean> {
  if (await store.archives.has(record.exportKey)) {
    await keepRecord(db, record);
    return false;
  }
  await removeRecord(db, record);
  return true;
}
