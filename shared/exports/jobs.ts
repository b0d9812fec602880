import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LecternError, messageOf } from '../platform/errors.ts';
import type { ErrorCode } from '../platform/errors.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { formatVersion } from '../packages/manifest.ts';
import { plainProfile, profileNamePattern } from './profiles.ts';

/** The queue of archives to build. */
export const exportQueueName = 'exports';

/** Part of every export key: raise it when Lectern writes the same version as other bytes than before. */
const archiveFormat = 1;

/** How this release writes archives, as jobs name it: workers of another release build others. */
export const archiveFormatName = `${formatVersion}/${archiveFormat}`;

/** Describes an archive to a worker: ids, and names for operators who look at the queue; no secrets. */
export const exportJobSchema = z.object({
  key: z.string().regex(/^x[0-9a-f]{40}$/),
  organizationId: z.string(),
  lessonId: z.string(),
  versionId: z.string(),
  slug: z.string(),
  versionNumber: z.number(),
  /** As {@link selectProfile} names it. Jobs that were queued before there were profiles have none. */
  profile: z.string().regex(profileNamePattern).default(plainProfile),
  /** Jobs of releases that did not name their format are of the format of that time. */
  format: z.string().default('1.0.0/1'),
});

export type ExportJob = z.output<typeof exportJobSchema>;

/** What a worker says when an archive is built; `failures` files could not be had. One that was there has 0 files. */
export interface ExportResult {
  size: number;
  files: number;
  failures: number;
}

/** How far a build is: files of the archive that are written, of how many, and their bytes. */
export const exportProgressSchema = z.object({ done: z.number(), total: z.number(), bytes: z.number() });

export type ExportProgress = z.output<typeof exportProgressSchema>;

/**
 * Returns the job that builds a published version's archive. Requests for the same archive get the same key.
 *
 * @param profile as {@link selectProfile} names it.
 */
export function exportJobOf(version: LessonVersion, profile: string = plainProfile): ExportJob {
  const format = archiveFormatName;
  const facts = [version._id, version.publishedAt?.toISOString(), profile, ...format.split('/')];
  // BullMQ takes no job id of digits alone, hence the letter before the digest.
  const key = `x${createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 40)}`;
  const { organizationId, lessonId, _id: versionId, slug, versionNumber } = version;
  return { key, organizationId, lessonId, versionId, slug, versionNumber, profile, format };
}

/** Where an archive is stored that lacks files: apart, so that it never passes for the complete one. */
export function incompleteKey(key: string): string {
  return `${key}-incomplete`;
}

/** The export key of an archive that is stored under either. */
export function exportKeyOf(storedKey: string): string {
  return isIncomplete(storedKey) ? storedKey.slice(0, -incompleteKey('').length) : storedKey;
}

/** Whether an archive is stored as one that lacks files. */
export function isIncomplete(key: string): boolean {
  return key.endsWith(incompleteKey(''));
}

/** A failure as BullMQ keeps it, a line of text: the code first, so that the API can answer with it. */
export function toFailedReason(error: unknown): string {
  const code: ErrorCode = error instanceof LecternError ? error.code : 'INTERNAL_ERROR';
  return `${code}: ${messageOf(error)}`;
}

/** The failure that {@link toFailedReason} wrote; reasons that BullMQ made itself are internal errors. */
export function fromFailedReason(reason: string): LecternError {
  const [, code, message = ''] = /^(INVALID_CONTENT|NOT_FOUND): ([^]*)$/.exec(reason) ?? [];
  if (code === 'INVALID_CONTENT' || code === 'NOT_FOUND') return new LecternError(code, message);
  return new LecternError('INTERNAL_ERROR', reason);
}
