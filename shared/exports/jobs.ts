import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LecternError, messageOf } from '../platform/errors.ts';
import type { ErrorCode } from '../platform/errors.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { formatVersion } from '../packages/manifest.ts';
import { themeDigest, themeSchema } from '../theme/theme.ts';
import type { Theme } from '../theme/theme.ts';
import { plainProfile, profileNamePattern, profileOf } from './profiles.ts';

/** Part of every export key: raise it when Lectern writes different bytes for the same version. */
const archiveFormat = 1;

/** The format of this release's archives. The queue's name has it, too. */
export const archiveFormatName = `${formatVersion}/${archiveFormat}`;

/** Describes an archive to a worker: ids, and names for operators who read the queue board. It holds no secrets. */
export const exportJobSchema = z.object({
  key: z.string().regex(/^x[0-9a-f]{40}$/),
  organizationId: z.string(),
  lessonId: z.string(),
  versionId: z.string(),
  slug: z.string(),
  versionNumber: z.number(),
  /** As {@link selectProfile} names it. */
  profile: z.string().regex(profileNamePattern),
  /** The theme that the archive carries. */
  theme: themeSchema.optional(),
});

export type ExportJob = z.output<typeof exportJobSchema>;

/** A worker's result: `failures` counts missing files. An archive that existed already has 0 files. */
export interface ExportResult {
  size: number;
  files: number;
  failures: number;
}

/** A build's progress: files written to the archive, files in total, and bytes written. */
export const exportProgressSchema = z.object({ done: z.number(), total: z.number(), bytes: z.number() });

export type ExportProgress = z.output<typeof exportProgressSchema>;

export const noProgress: ExportProgress = { done: 0, total: 0, bytes: 0 };

/** Returns the progress that a job has reported. BullMQ has the number 0 for none. */
export function progressOf({ progress }: { progress: unknown }): ExportProgress {
  return exportProgressSchema.safeParse(progress).data ?? noProgress;
}

/**
 * Returns the job that builds a published version's archive. Requests for the same archive get the same key.
 *
 * @param profile as {@link selectProfile} names it.
 * @param theme of the lesson; null for Lectern's own look. Archives without a page ignore it.
 */
export function exportJobOf(
  version: LessonVersion,
  profile: string = plainProfile,
  theme: Theme | null = null,
): ExportJob {
  const carried = theme !== null && profileOf({ profile }).hasPage ? theme : undefined;
  const facts = [version._id, version.publishedAt?.toISOString(), profile, ...archiveFormatName.split('/')];
  if (carried) facts.push(themeDigest(carried));
  const key = `x${createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 40)}`;
  const { organizationId, lessonId, _id: versionId, slug, versionNumber } = version;
  const job = { key, organizationId, lessonId, versionId, slug, versionNumber, profile };
  return carried ? { ...job, theme: carried } : job;
}

/**
 * Returns the key of an archive that lacks files, which is stored separately so that it is never mistaken for the
 * complete one.
 */
export function incompleteKey(key: string): string {
  return `${key}-incomplete`;
}

/** Returns the export key of an archive that is stored under either key. */
export function exportKeyOf(storedKey: string): string {
  return isIncomplete(storedKey) ? storedKey.slice(0, -incompleteKey('').length) : storedKey;
}

/** Returns whether a key is that of an archive that lacks files. */
export function isIncomplete(key: string): boolean {
  return key.endsWith(incompleteKey(''));
}

/** Why a canceled job has failed. */
export const cancelledReason = 'CANCELLED: the export was canceled';

/** Returns a failure as BullMQ stores it, in one line of text. It begins with the code that the API needs. */
export function toFailedReason(error: unknown): string {
  const code: ErrorCode = error instanceof LecternError ? error.code : 'INTERNAL_ERROR';
  return `${code}: ${messageOf(error)}`;
}

/** Parses the text of {@link toFailedReason}; reasons from BullMQ itself become internal errors. */
export function fromFailedReason(reason: string): LecternError {
  const [, code, message = ''] = /^(INVALID_CONTENT|NOT_FOUND): ([^]*)$/.exec(reason) ?? [];
  if (code === 'INVALID_CONTENT' || code === 'NOT_FOUND') return new LecternError(code, message);
  return new LecternError('INTERNAL_ERROR', reason);
}
