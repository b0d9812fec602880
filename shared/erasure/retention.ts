import type { AuditLog } from '../audit/audit-log.ts';
import { forgetStatistics } from '../models/lesson-statistics.ts';
import { expiry } from '../models/expired-records.ts';
import type { Database } from '../models/database.ts';
import { areNone, noRecords, recordKinds } from '../models/learner-records.ts';
import type { RecordCounts, RecordKind } from '../models/learner-records.ts';
import {
  claimRetention,
  claimRun,
  defaultMaxPerRun,
  findRetention,
  finishRun,
  noRetention,
  postponeRun,
  saveRetention,
  saveRun,
} from '../models/retention.ts';
import type { ClaimedRetention, Retention, RetentionRun, RetentionSettings } from '../models/retention.ts';

/*
 * Removes records of learners that are older than their organization has set. A process may stop between any two steps.
 * A run therefore stores each batch before it removes it. Another process then removes and counts that batch again, and
 * no lesson keeps statistics of removed records.
 */

const dayMs = 24 * 3600_000;
const retryMs = 10 * 60_000;

/** The maximum number of records that one operation removes, so that others do not wait long. */
const batchSize = 500;

/** One query looks up the progress of a batch of grades, with a condition for each grade. */
const batchOf = (kind: RecordKind): number => (kind === 'grades' ? 100 : batchSize);

/** A run with more batches lets the retentions of other organizations run first, and then continues. */
const batchesPerTurn = 100;

/** Returns the fault of invalid settings; null for valid ones. */
export function retentionFault({ days }: RetentionSettings): string | null {
  const { grades, ltiProgress } = days;
  if (grades === null || (ltiProgress !== null && grades >= ltiProgress)) return null;
  return 'grades must not be removed before ltiProgress: Lectern needs them to send no grade twice';
}

export interface RetentionPreview {
  /** How many records the next run would remove. */
  wouldRemove: RecordCounts;
  /** Whether some kind has more such records. */
  isCapped: boolean;
}

/** Counts the records that a run with these settings would remove now. */
export async function previewRetention(
  db: Database,
  organizationId: string,
  { days, maxPerRun }: RetentionSettings,
): Promise<RetentionPreview> {
  const now = Date.now();
  const wouldRemove = { ...noRecords };
  let isCapped = false;
  for (const kind of recordKinds) {
    const kept = days[kind];
    if (kept === null) continue;
    const until = new Date(now - kept * dayMs);
    const selection = { organizationId, until, batch: batchOf(kind), limit: maxPerRun + 1 };
    const count = await expiry[kind].count(db, selection);
    wouldRemove[kind] = Math.min(count, maxPerRun);
    isCapped ||= count > maxPerRun;
  }
  return { wouldRemove, isCapped };
}

export interface RetentionDependencies {
  db: Database;
  audit: Pick<AuditLog, 'recordNow'>;
}

/**
 * Replaces an organization's settings, and stops its run in progress. Equal settings change nothing, so a client may send
 * them again and again without a delay of the next run.
 *
 * The report of a stopped run is stored before the run is dropped. After a crash between these steps, the run continues
 * and is reported again.
 */
export async function changeRetention(
  deps: RetentionDependencies,
  organizationId: string,
  settings: RetentionSettings,
): Promise<Retention> {
  const { db } = deps;
  for (;;) {
    const stored = await findRetention(db, organizationId);
    if (stored !== null && isEqual(stored, settings)) return stored;
    const stopped = await claimRun(db, organizationId);
    if (stopped !== null) {
      const { removed, batch } = stopped.run;
      const counts = { ...removed };
      if (batch !== null) {
        // The stopped process still removes its current batch. If it has died, its lessons are counted again.
        counts[batch.kind] += batch.ids.length;
        await forgetStatistics(db, batch.lessonIds);
      }
      await endRun(deps, stopped, { ...stopped.run, removed: counts }, true);
    }
    const saved = await saveRetention(db, organizationId, settings);
    if (saved !== null) return saved;
  }
}

function isEqual(a: RetentionSettings, b: RetentionSettings): boolean {
  return a.maxPerRun === b.maxPerRun && recordKinds.every((kind) => a.days[kind] === b.days[kind]);
}

/** Ends a run, and stores its result. A run that has removed records is in the audit log. */
async function endRun(
  { db, audit }: RetentionDependencies,
  claimed: Pick<ClaimedRetention, '_id' | 'leaseId'>,
  { startedAt, removed, isCapped, positions }: Omit<RetentionRun, 'batch' | 'kind'>,
  isStopped: boolean,
): Promise<void> {
  const { _id: organizationId } = claimed;
  if (!areNone(removed)) {
    await audit.recordNow(organizationId, {
      action: 'retention.run',
      actor: { type: 'system', id: 'retention' },
      target: { type: 'organization', id: organizationId },
      details: { ...removed, isCapped, isStopped },
      ...{ ip: null, requestId: null },
    });
  }
  await finishRun(db, claimed, { startedAt, finishedAt: new Date(), removed, isCapped, positions });
}

interface RunOptions {
  /** Stops the run before its next batch; another process continues it. */
  signal?: AbortSignal;
  maxBatches?: number;
}

/**
 * Runs the retention that has been due the longest, or continues its run.
 *
 * @param options.maxBatches the number of batches after which it yields to the runs of other organizations.
 * @returns false if none was due.
 * @throws {Error} if MongoDB does not respond; the run continues later.
 */
export async function runRetention(
  deps: RetentionDependencies,
  { signal, maxBatches = batchesPerTurn }: RunOptions = {},
): Promise<boolean> {
  const claimed = await claimRetention(deps.db);
  if (claimed === null) return false;
  try {
    const run = { ...claimed, days: { ...noRetention, ...claimed.days } };
    const end = await runClaimed(deps, run, { signal, maxBatches });
    // The retention that has been due the longest runs next.
    if (end === 'unfinished') await postponeRun(deps.db, claimed, new Date());
  } catch (error) {
    if (signal?.aborted === true) {
      await postponeRun(deps.db, claimed, new Date());
      return false;
    }
    await postponeRun(deps.db, claimed, new Date(Date.now() + retryMs)).catch(() => undefined);
    throw error;
  }
  return true;
}

async function runClaimed(
  deps: RetentionDependencies,
  claimed: ClaimedRetention,
  { signal, maxBatches }: { signal: AbortSignal | undefined; maxBatches: number },
): Promise<'finished' | 'unfinished' | 'stopped'> {
  const { db } = deps;
  const { _id: organizationId, days, maxPerRun, lastRun } = claimed;
  const run: RetentionRun = {
    ...{ startedAt: new Date(), removed: { ...noRecords }, batch: null, isCapped: false, kind: null },
    positions: lastRun?.positions ?? {},
    ...claimed.run,
  };
  const { startedAt, removed, positions } = run;
  const selectionOf = (kind: RecordKind) => {
    const until = new Date(startedAt.getTime() - (days[kind] ?? Infinity) * dayMs);
    return { organizationId, until, batch: batchOf(kind), signal };
  };
  /** Removes the batch that the run has stored. Returns false if the run must stop. */
  const removeBatch = async (): Promise<boolean> => {
    if (run.batch === null) return true;
    const { kind, ids, lessonIds } = run.batch;
    await expiry[kind].remove(db, selectionOf(kind), ids);
    await forgetStatistics(db, lessonIds);
    removed[kind] += ids.length;
    run.batch = null;
    return saveRun(db, claimed, run);
  };
  // Finishes the batch of a process that has died.
  if (!(await removeBatch())) return 'stopped';
  let batches = 0;
  for (const kind of recordKinds.slice(run.kind === null ? 0 : recordKinds.indexOf(run.kind))) {
    if (days[kind] === null) continue;
    run.kind = kind;
    let isSearched = true;
    for await (const { ids, lessonIds, position } of expiry[kind].list(
      db,
      selectionOf(kind),
      positions[kind],
    )) {
      signal?.throwIfAborted();
      const left = maxPerRun - removed[kind];
      run.isCapped ||= ids.length > left;
      if (position !== null) positions[kind] = position;
      isSearched = left > 0;
      if (!isSearched) break;
      if (batches === maxBatches) return (await saveRun(db, claimed, run)) ? 'unfinished' : 'stopped';
      batches += 1;
      run.batch = { kind, ids: ids.slice(0, left), lessonIds };
      if (!(await saveRun(db, claimed, run)) || !(await removeBatch())) return 'stopped';
    }
    if (isSearched) delete positions[kind];
  }
  await endRun(deps, claimed, run, false);
  return 'finished';
}

/** Returns an organization's settings and runs for the API and the command line. @param retention null if it has set none. */
export function presentRetention(retention: Retention | null) {
  const { days, maxPerRun = defaultMaxPerRun, dueAt = null, lastRun = null } = retention ?? {};
  return {
    days: { ...noRetention, ...days },
    maxPerRun,
    nextRunAt: dueAt?.toISOString() ?? null,
    lastRun: lastRun && {
      startedAt: lastRun.startedAt.toISOString(),
      finishedAt: lastRun.finishedAt.toISOString(),
      removed: { ...noRecords, ...lastRun.removed },
      isCapped: lastRun.isCapped,
    },
  };
}
