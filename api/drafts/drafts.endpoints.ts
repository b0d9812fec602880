import { z } from 'zod';
import { openDraft } from '../../shared/drafts/drafts.ts';
import { maxPartBytes } from '../../shared/drafts/lesson-parts.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  countDraftSteps,
  deleteDraft,
  findDraft,
  findDraftStep,
  listDraftSteps,
  maxDraftSteps,
  saveSkeleton,
  saveStep,
} from '../../shared/models/lesson-draft.ts';
import type { Author, DraftStep, LessonDraft } from '../../shared/models/lesson-draft.ts';
import type { LessonImport } from '../../shared/models/lesson-import.ts';
import { findImport, queueDraftImport } from '../../shared/models/lesson-import.ts';
import { findLessonVersion, findNewestVersion } from '../../shared/models/lesson-list.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { identifier } from '../../shared/packages/lesson-shapes.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { taskWait } from '../../shared/platform/tasks.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { apiAccess } from '../accounts/access.ts';
import { auditedCaller } from '../http/audit.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { noStore } from '../http/headers.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { texts as importTexts } from '../imports/create-import.ts';
import * as importExample from '../imports/examples.ts';
import { header } from '../imports/import-endpoint.ts';
import { importBody, presentImport } from '../imports/present-import.ts';
import {
  conflictText,
  draftConflict,
  draftStep,
  lessonDraft,
  presentConflict,
  presentDraft,
  presentSaved,
  presentStep,
  savedPart,
  skeletonBody,
  skeletonFaults,
  stepBody,
  stepConflict,
} from './bodies.ts';

const texts = {
  exists: 'The lesson has a draft. Discard it to begin with another version.',
  notFound: 'Draft not found',
  stepNotFound: 'Step not found',
  lessonNotFound: 'Lesson or version not found',
  isPublishing: 'The draft is being published',
  tooManySteps: `A draft has at most ${maxDraftSteps} steps`,
};

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
const ofDraft = { ...common, path: '/api/lessons/:lessonId/draft', params } as const;
const ofStep = {
  ...common,
  path: '/api/lessons/:lessonId/draft/steps/:stepId',
  params: params.extend({ stepId: identifier.meta({ description: 'Id of the step.' }) }),
} as const;
const noDraft = failure(
  'The lesson has no draft, does not exist, was deleted, or belongs to another organization.',
  texts.notFound,
);
const noStep = failure('The draft or the step does not exist.', texts.notFound, texts.stepNotFound);

const savedExample = {
  revision: 3,
  savedAt: '2026-11-21T09:12:04.000Z',
  savedBy: { type: 'user', id: '5b1f0c52-6f37-4f0e-8d0e-6a2f6c1d9e77' },
} as const;
const stepExample = {
  stepId: example.stepId,
  ...savedExample,
  content: { content: [{ type: 'Text', props: { id: 't1', html: '<p>Water rises.</p>' } }], root: {} },
};
const draftExample = {
  lessonId: example.lessonId,
  versionId: example.versionId,
  createdAt: '2026-11-21T08:40:00.000Z',
  ...savedExample,
  skeleton: {
    lesson: { id: example.lessonId, title: 'How tides work' },
    sections: [{ id: 's1', title: 'The Moon', steps: [{ id: example.stepId, title: 'A harbour' }] }],
  },
  steps: [{ stepId: example.stepId, ...savedExample }],
};
const conflictExample = { error: conflictText, code: 'CONFLICT' } as const;

interface DraftRequest {
  caller: { organization: { _id: string } };
  params: { lessonId: string };
}

/** @throws {LecternError} NOT_FOUND */
async function requireDraft(
  db: Database,
  { caller, params: { lessonId } }: DraftRequest,
): Promise<LessonDraft> {
  const { _id: organizationId } = caller.organization;
  const [draft, lesson] = await Promise.all([
    findDraft(db, organizationId, lessonId),
    lessonExists(db, organizationId, lessonId),
  ]);
  if (draft === null || !lesson) throw new LecternError('NOT_FOUND', texts.notFound);
  return draft;
}

/** @throws {LecternError} NOT_FOUND */
async function requireStep(db: Database, draft: LessonDraft, stepId: string): Promise<DraftStep> {
  const step = await findDraftStep(db, draft._id, stepId);
  if (step === null) throw new LecternError('NOT_FOUND', texts.stepNotFound);
  return step;
}

async function bodyOf(db: Database, draft: LessonDraft) {
  return presentDraft(draft, await listDraftSteps(db, draft._id));
}

function authorOf(ctx: EndpointContext): Author {
  const { type, id } = auditedCaller.get(ctx).actor;
  return { type, id };
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
    async ({ ctx, caller, params: { lessonId }, readBody }) => {
      const { versionId } = await readBody();
      const { _id: organizationId } = caller.organization;
      const version =
        versionId === undefined
          ? await findNewestVersion(db, organizationId, lessonId)
          : await findLessonVersion(db, organizationId, lessonId, versionId);
      if (version === null) throw new LecternError('NOT_FOUND', texts.lessonNotFound);
      const draft = await openDraft(db, version, authorOf(ctx), taskWait);
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
        one: { value: { ...conflictExample, ...draftExample } },
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

/** GET /api/lessons/{lessonId}/draft/steps/{stepId} */
const getStep = defineEndpoint(
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
const saveStepEndpoint = defineEndpoint(
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
        one: { value: { ...conflictExample, ...stepExample } },
      }),
      413: failure(
        'The body is too large or takes long to parse, or the draft has too many steps.',
        texts.tooManySteps,
      ),
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
      if (revision === 0 && (await countDraftSteps(db, draft._id)) >= maxDraftSteps)
        throw new LecternError('PAYLOAD_TOO_LARGE', texts.tooManySteps);
      const saved = await saveStep(db, draft._id, { stepId, content, revision, savedBy: authorOf(ctx) });
      const present = saved ?? (await requireStep(db, draft, stepId));
      if (present.content === content) return { status: 200, body: presentSaved(present) };
      return { status: 409, body: presentConflict(presentStep(present)) };
    },
);

function queueDraft(
  db: Database,
  { _id: id, organizationId, saves }: LessonDraft,
  fields: Pick<LessonImport, '_id' | 'options'>,
): Promise<LessonImport | null> {
  return queueDraftImport(db, { ...fields, organizationId, fileName: 'draft', draft: { id, saves } });
}

const publication = z.strictObject(
  {
    publish: z
      .boolean('publish must be true or false')
      .default(true)
      .meta({ description: 'Whether to publish the version, so that learners get it.' }),
    force: z
      .boolean('force must be true or false')
      .default(false)
      .meta({ description: 'Whether to publish a lesson that cannot be played yet.' }),
  },
  { error: objectFault },
);

/** POST /api/lessons/{lessonId}/draft/publish */
const publishOne = defineEndpoint(
  {
    ...ofDraft,
    method: 'post',
    path: '/api/lessons/:lessonId/draft/publish',
    audit: 'draft.publish',
    idempotent: true,
    operationId: 'publishDraft',
    summary: 'Publish a draft',
    description:
      'Makes the next version of the lesson from its draft: a worker checks and converts it as an import, which ' +
      'reports faults, warnings and the version. Then the draft ends, unless an author has saved since.',
    body: strictBody(publication, { publish: { value: {} }, version: { value: { publish: false } } }),
    responses: {
      202: json(
        'The import that makes the version.',
        importBody,
        {
          one: {
            value: {
              ...importExample.uploading,
              status: 'queued',
              fileName: 'draft',
              upload: { size: 0, offset: 0 },
            },
          },
        },
        { ...noStore, Location: header('The URL of the import.') },
      ),
      403: {
        ...failure("The organization's plan does not include imports.", importTexts.plan),
        codes: { [importTexts.plan]: 'FEATURE_NOT_AVAILABLE' },
      },
      404: noDraft,
      409: failure('The draft is being published.', texts.isPublishing),
    },
  },
  ({ db, config }: { db: Database; config: Pick<Config, 'publicUrl'> }) =>
    async (request) => {
      const { ctx, caller, newId } = request;
      if (caller.organization.plan !== 'edtech')
        throw new LecternError('FEATURE_NOT_AVAILABLE', importTexts.plan);
      const { publish, force } = await request.readBody();
      const { _id: organizationId } = caller.organization;
      const found = await findImport(db, newId, organizationId);
      const created =
        found ??
        (await queueDraft(db, await requireDraft(db, request), {
          _id: newId,
          options: { asNew: false, publish, force, mediaBaseUrl: null, questionsPerStep: null },
        }));
      if (created === null) throw new LecternError('CONFLICT', texts.isPublishing);
      ctx.set('Location', `${publicUrlOf(ctx, config)}/api/lessons/imports/${created._id}`);
      return { status: 202, body: presentImport(created, { offset: 0 }) };
    },
);

export const draftEndpoints = [createOne, getOne, saveOne, discardOne, getStep, saveStepEndpoint, publishOne];
