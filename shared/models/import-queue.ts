import { randomUUID } from 'node:crypto';
import type { PipelineStage } from 'mongoose';
import { isUnleased, newLease, noLease } from '../platform/lease.ts';
import { endIf } from './lesson-import.ts';
import type { LessonImport, LessonImportDb } from './lesson-import.ts';

/*
 * Imports wait in their own documents. A worker that starts one holds a lease on it; if the worker dies, another worker
 * starts the import again. See docs/decisions/0049-imports-wait-in-mongodb.md.
 */

/** An organization with imports to start. */
export interface WaitingOrganization {
  organizationId: string;
  /** Its running imports, on all workers. */
  running: number;
  /** Its import that has waited longest. */
  next: string;
}

/** Matches imports that a worker may start: due ones, and those whose worker died. */
const isClaimable = {
  $and: [isUnleased, { $in: ['$state', ['queued', 'importing']] }, { $lte: ['$dueAt', '$$NOW'] }],
};

/**
 * Returns the organizations with imports to start. Those with the fewest running imports come first, then those that
 * have waited longest: an organization cannot delay another one by queueing more.
 */
export async function listWaitingOrganizations(db: LessonImportDb): Promise<WaitingOrganization[]> {
  const waitingSince = { $cond: [isClaimable, { at: '$dueAt', id: '$_id' }, '$$REMOVE'] };
  const pipeline: PipelineStage[] = [
    { $match: { state: { $in: ['queued', 'importing'] } } },
    {
      $group: {
        _id: '$organizationId',
        running: { $sum: { $cond: [{ $gt: ['$leaseUntil', '$$NOW'] }, 1, 0] } },
        next: { $min: waitingSince },
      },
    },
    { $match: { next: { $ne: null } } },
  ];
  const found = await db.lessonImports
    .aggregate<{ _id: string; running: number; next: { at: Date; id: string } }>(pipeline)
    .exec();
  return found
    .toSorted((a, b) => a.running - b.running || a.next.at.getTime() - b.next.at.getTime())
    .map(({ _id: organizationId, running, next }) => ({ organizationId, running, next: next.id }));
}

/** Starts an import under a lease; returns it, or null if another worker did. */
export function claimImport(
  db: LessonImportDb,
  id: string,
  leaseMs: number,
): Promise<(LessonImport & { leaseId: string }) | null> {
  return db.lessonImports
    .findOneAndUpdate(
      { _id: id, $expr: isClaimable },
      [
        {
          $set: {
            ...newLease(randomUUID(), leaseMs),
            state: 'importing',
            starts: { $add: ['$starts', 1] },
            changedAt: '$$NOW',
          },
        },
      ],
      { returnDocument: 'after', updatePipeline: true },
    )
    .lean<LessonImport & { leaseId: string }>()
    .exec();
}

/** The right to work on an import, until another worker has it. */
export type ImportLease = Pick<LessonImport, '_id'> & { leaseId: string };

/** Returns whether a run still has the lease of its import: it has not ended, and no other worker has taken over. */
export async function isImportRunning(db: LessonImportDb, { _id, leaseId }: ImportLease): Promise<boolean> {
  return (await db.lessonImports.exists({ _id, leaseId }).exec()) !== null;
}

/**
 * Renews the lease of a running import and stores its progress.
 *
 * @returns whether the import has to stop; null if the lease is lost.
 */
export async function renewImport(
  db: LessonImportDb,
  { _id, leaseId }: ImportLease,
  { leaseMs, progress }: { leaseMs: number; progress: LessonImport['progress'] },
): Promise<boolean | null> {
  const renewed = await db.lessonImports
    .findOneAndUpdate(
      { _id, leaseId },
      [{ $set: { leaseUntil: newLease(leaseId, leaseMs).leaseUntil, progress: { $literal: progress } } }],
      { updatePipeline: true },
    )
    .lean<LessonImport>()
    .exec();
  return renewed?.isCancelRequested ?? null;
}

/** Ends a running import. Returns false if another worker has it. */
export function endImport(
  db: LessonImportDb,
  { _id, leaseId }: ImportLease,
  end: Partial<Pick<LessonImport, 'state' | 'error' | 'report' | 'mediaFileId' | 'progress'>>,
): Promise<boolean> {
  return endIf(db, { _id, leaseId }, end);
}

/** Returns a running import to the queue. @param failed whether this counts as a failed attempt. */
export async function requeueImport(
  db: LessonImportDb,
  { _id, leaseId }: ImportLease,
  { delayMs, failed }: { delayMs: number; failed: boolean },
): Promise<void> {
  const now = Date.now();
  await db.lessonImports.updateOne(
    { _id, leaseId },
    {
      $set: { state: 'queued', ...noLease, changedAt: new Date(now), dueAt: new Date(now + delayMs) },
      // A worker that shuts down says nothing about the package.
      $inc: failed ? { failures: 1 } : { starts: -1 },
    },
  );
}
