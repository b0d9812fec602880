import { z } from 'zod';
import { openDraft } from '../../shared/drafts/drafts.ts';
import { maxPartBytes } from '../../shared/drafts/lesson-parts.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  deleteDraft,
  findDraftById,
  listDraftSteps,
  saveSkeleton,
} from '../../shared/models/lesson-draft.ts';
import type { LessonDraft } from '../../shared/models/lesson-draft.ts';
import { findLessonVersion, findNewestVersion } from '../../shared/models/lesson-list.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { taskWait } from '../../shared/platform/tasks.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import * as example from '../http/examples.ts';
import { noStore } from '../http/headers.ts';
import { empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import {
  conflictMembers,
  draftConflict,
  draftExample,
  lessonDraft,
  presentConflict,
  presentDraft,
  presentSaved,
  savedExample,
  savedPart,
  skeletonBody,
  skeletonFaults,
} from './bodies.ts';
import { previewFrame } from './draft-preview.endpoints.ts';
import { authorOf, noDraft, ofDraft, requireDraft } from './draft-requests.ts';
import { getStep, saveStepEndpoint } from './draft-steps.endpoints.ts';
import { publishDraft } from './publish-draft.endpoints.ts';

const texts = {
  exists: 'The lesson has a draft. Discard it to begin with another version.',
  lessonNotFound: 'Lesson or version not found',
};

async function bodyOf(db: Database, draft: LessonDraft) {
  return presentDraft(draft, await listDraftSteps(db, draft._id));
}

const newDraft = z.strictObject(
  {
    versionId: z
      .guid('versionId must be a UUID')
      .toLowerCase()
      .optional()
      .meta({ description: 'The version to begin with; by default the newest one.' }),
  },
  { error: objectFault },
);

/** POST /api/lessons/{lessonId}/draft */
const createOne = defineEndpoint(
  {
    ...ofDraft,
    method: 'post',
    audit: 'draft.create',
    idempotent: true,
    operationId: 'createDraft',
    summary: 'Create a draft',
    description:
      'Begins a draft with a version of the lesson. A lesson has at most one draft. Saving it creates no version, and ' +
      'learners never see it.',
    body: strictBody(newDraft, {
      newest: { value: {} },
      version: { value: { versionId: example.versionId } },
    }),
    responses: {
      201: json('The draft.', lessonDraft, { one: { value: draftExample } }, noStore),
      404: failure('The lesson or version does not exist.', texts.lessonNotFound),
      409: failure('The lesson has a draft.', texts.exists),
      413: failure(`The outline or a step of the version is over ${maxPartBytes / 1024} KiB.`),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ ctx, caller, params: { lessonId }, readBody, newId }) => {
      const { versionId } = await readBody();
      const { _id: organizationId } = caller.organization;
      const found = await findDraftById(db, newId);
      if (found !== null) return { status: 201, body: await bodyOf(db, found) };
      const version =
        versionId === undefined
          ? await findNewestVersion(db, organizationId, lessonId)
          : await findLessonVersion(db, organizationId, lessonId, versionId);
      if (version === null) throw new LecternError('NOT_FOUND', texts.lessonNotFound);
      const draft = await openDraft(db, version, {
        ...{ draftId: newId, author: authorOf(ctx), wait: taskWait },
      });
      if (draft === null) throw new LecternError('CONFLICT', texts.exists);
      return { status: 201, body: await bodyOf(db, draft) };
    },
);

/** GET /api/lessons/{lessonId}/draft */
const getOne = defineEndpoint(
  {
    ...ofDraft,
    method: 'get',
    operationId: 'getDraft',
    summary: 'Read a draft',
    description: 'Returns the draft without the content of its steps.',
    responses: {
      200: json('The draft.', lessonDraft, { one: { value: draftExample } }, noStore),
      404: noDraft,
    },
  },
  ({ db }: { db: Database }) =>
    async (request) => ({ status: 200, body: await bodyOf(db, await requireDraft(db, request)) }),
);

/** PUT /api/lessons/{lessonId}/draft */
const saveOne = defineEndpoint(
  {
    ...ofDraft,
    method: 'put',
    // Editors save every few seconds. The log has the creation and the end of a draft; its parts name their authors.
    audit: null,
    operationId: 'saveDraft',
    summary: 'Save the skeleton of a draft',
    description:
      'Changes the lesson, its sections, and the order, titles and settings of its steps. To add a step, save its ' +
      'content first. To move or remove one, only save the skeleton: the content of a removed step is kept until the ' +
      'draft ends.',
    body: skeletonBody,
    responses: {
      200: json('It is saved.', savedPart, { one: { value: savedExample } }, noStore),
      404: noDraft,
      409: json('Another author has saved: the present draft.', draftConflict, {
        one: { value: { ...conflictMembers, ...draftExample } },
      }),
    },
  },
  ({ db }: { db: Database }) =>
    async (request) => {
      const {
        ctx,
        params: { lessonId },
      } = request;
      const draft = await requireDraft(db, request);
      const { revision, skeleton, lessonId: named = lessonId } = await request.readBody();
      if (named.toLowerCase() !== lessonId)
        throw new LecternError('INVALID_CONTENT', skeletonFaults.otherLesson);
      const saved = await saveSkeleton(db, draft._id, { skeleton, revision, savedBy: authorOf(ctx) });
      const present = saved ?? (await requireDraft(db, request));
      // The same: a client repeats a save whose response it did not get.
      if (present.skeleton === skeleton) return { status: 200, body: presentSaved(present) };
      return { status: 409, body: presentConflict(await bodyOf(db, present)) };
    },
);

/** DELETE /api/lessons/{lessonId}/draft */
const discardOne = defineEndpoint(
  {
    ...ofDraft,
    method: 'delete',
    audit: 'draft.discard',
    operationId: 'discardDraft',
    summary: 'Discard a draft',
    description: 'Deletes the draft. The versions of the lesson stay as they are.',
    responses: { 204: empty('It is deleted.'), 404: noDraft },
  },
  ({ db }: { db: Database }) =>
    async (request) => {
      const { _id } = await requireDraft(db, request);
      await deleteDraft(db, { _id });
      return { status: 204 };
    },
);

export const draftEndpoints = [
  createOne,
  getOne,
  saveOne,
  discardOne,
  getStep,
  saveStepEndpoint,
  publishDraft,
  previewFrame,
];
