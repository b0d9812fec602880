import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { findDraft } from '../../shared/models/lesson-draft.ts';
import type { Author, LessonDraft } from '../../shared/models/lesson-draft.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { apiAccess } from '../accounts/access.ts';
import { auditedCaller } from '../http/audit.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { failure } from '../http/responses.ts';

/* What the endpoints of drafts share. */

const notFoundText = 'Draft not found';

const params = z.object({
  lessonId: z.guid('Invalid lesson ID format').toLowerCase().meta({ description: 'Id of the lesson.' }),
});
const common = {
  access: apiAccess,
  scope: 'content',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Content',
} as const;
export const ofDraft = { ...common, path: '/api/lessons/:lessonId/draft', params } as const;
export const noDraft = failure(
  'The lesson has no draft, does not exist, was deleted, or belongs to another organization.',
  notFoundText,
);

interface DraftRequest {
  caller: { organization: { _id: string } };
  params: { lessonId: string };
}

/** @throws {LecternError} NOT_FOUND */
export async function requireDraft(
  db: Database,
  { caller, params: { lessonId } }: DraftRequest,
): Promise<LessonDraft> {
  const { _id: organizationId } = caller.organization;
  const [draft, lesson] = await Promise.all([
    findDraft(db, organizationId, lessonId),
    lessonExists(db, organizationId, lessonId),
  ]);
  if (draft === null || !lesson) throw new LecternError('NOT_FOUND', notFoundText);
  return draft;
}

export function authorOf(ctx: EndpointContext): Author {
  const { type, id } = auditedCaller.get(ctx).actor;
  return { type, id };
}
