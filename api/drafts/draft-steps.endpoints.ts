import type { Database } from '../../shared/models/database.ts';
import { findDraftStep, maxDraftBytes, saveStep, sumDraftBytes } from '../../shared/models/lesson-draft.ts';
import type { DraftStep, LessonDraft } from '../../shared/models/lesson-draft.ts';
import { identifier } from '../../shared/packages/lesson-shapes.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import { failure, json } from '../http/responses.ts';
import {
  conflictMembers,
  draftStep,
  presentConflict,
  presentSaved,
  presentStep,
  savedExample,
  savedPart,
  stepBody,
  stepConflict,
  stepExample,
} from './bodies.ts';
import { authorOf, ofDraft, requireDraft } from './draft-requests.ts';

const notFoundText = 'Step not found';
const tooLargeText = `The steps of a draft have at most ${maxDraftBytes} bytes together. Publish or discard it.`;

const ofStep = {
  ...ofDraft,
  path: '/api/lessons/:lessonId/draft/steps/:stepId',
  params: ofDraft.params.extend({ stepId: identifier.meta({ description: 'Id of the step.' }) }),
} as const;
const noStep = failure('The draft or the step does not exist.', 'Draft not found', notFoundText);

/** @throws {LecternError} NOT_FOUND */
async function requireStep(db: Database, draft: LessonDraft, stepId: string): Promise<DraftStep> {
  const step = await findDraftStep(db, draft._id, stepId);
  if (step === null) throw new LecternError('NOT_FOUND', notFoundText);
  return step;
}

/** GET /api/lessons/{lessonId}/draft/steps/{stepId} */
export const getStep = defineEndpoint(
  {
    ...ofStep,
    method: 'get',
    operationId: 'getDraftStep',
    summary: 'Read a step of a draft',
    responses: { 200: json('The step.', draftStep, { one: { value: stepExample } }, noStore), 404: noStep },
  },
  ({ db }: { db: Database }) =>
    async (request) => {
      const step = await requireStep(db, await requireDraft(db, request), request.params.stepId);
      return { status: 200, body: presentStep(step) };
    },
);

/** PUT /api/lessons/{lessonId}/draft/steps/{stepId} */
export const saveStepEndpoint = defineEndpoint(
  {
    ...ofStep,
    method: 'put',
    // As for the skeleton.
    audit: null,
    operationId: 'saveDraftStep',
    summary: 'Save a step of a draft',
    description: 'Saves the content of a step as it is, without checks: publishing checks it.',
    body: stepBody,
    responses: {
      200: json('It is saved.', savedPart, { one: { value: savedExample } }, noStore),
      404: noStep,
      409: json('Another author has saved: the present step.', stepConflict, {
        one: { value: { ...conflictMembers, ...stepExample } },
      }),
      413: failure('The body is too large or takes long to parse, or the draft is too large.', tooLargeText),
    },
  },
  ({ db }: { db: Database }) =>
    async (request) => {
      const {
        ctx,
        params: { stepId },
      } = request;
      const draft = await requireDraft(db, request);
      const { revision, content } = await request.readBody();
      const bytes = Buffer.byteLength(content) + (await sumDraftBytes(db, draft._id, stepId));
      if (bytes > maxDraftBytes) throw new LecternError('PAYLOAD_TOO_LARGE', tooLargeText);
      const saved = await saveStep(db, draft, { stepId, content, revision, savedBy: authorOf(ctx) });
      const present = saved ?? (await requireStep(db, draft, stepId));
      if (present.content === content) return { status: 200, body: presentSaved(present) };
      return { status: 409, body: presentConflict(presentStep(present)) };
    },
);
