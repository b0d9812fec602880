import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { findLessonVersion } from '../../shared/models/lesson-list.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { apiErrors } from '../http/error-format.ts';
import { failure } from '../http/responses.ts';

const notFoundText = 'Lesson or version not found';
/** Returns the schema of an id. */
export const idOf = (name: string) =>
  z
    .guid(`Invalid ${name} ID format`)
    .toLowerCase()
    .meta({ description: `Id of the ${name}.` });
export const common = { errors: apiErrors(), invalid: 'INVALID_CONTENT', tag: 'Content' } as const;
/** Of endpoints of one version. */
export const ofVersion = {
  ...common,
  params: z.object({ lessonId: idOf('lesson'), versionId: idOf('version') }),
} as const;
export const notFound = failure(
  'The lesson or version does not exist, was deleted, or belongs to another organization.',
  notFoundText,
);
interface VersionRequest {
  caller: { organization: { _id: string } };
  params: { lessonId: string; versionId: string };
}

/** Returns the version that a request names. @throws {LecternError} NOT_FOUND */
export async function requireVersion(
  db: Database,
  { caller, params: { lessonId, versionId } }: VersionRequest,
): Promise<LessonVersion> {
  const version = await findLessonVersion(db, caller.organization._id, lessonId, versionId);
  if (version === null) throw new LecternError('NOT_FOUND', notFoundText);
  return version;
}
