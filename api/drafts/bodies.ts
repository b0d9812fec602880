import { z } from 'zod';
import { maxPartBytes, stepIdsOf } from '../../shared/drafts/lesson-parts.ts';
import type { DraftStep, LessonDraft } from '../../shared/models/lesson-draft.ts';
import { identifier } from '../../shared/packages/lesson-shapes.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectMembers } from '../../shared/platform/json-text.ts';
import { RawJson } from '../../shared/platform/raw-json.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { parseRequest } from '../http/endpoint.ts';
import * as example from '../http/examples.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { jsonObject, time, uuid } from '../http/responses.ts';

const saved = {
  revision: z.int().min(1).meta({ description: 'Counts the saves of this part.' }),
  savedAt: time,
  savedBy: z
    .strictObject({ type: z.enum(['key', 'user']), id: z.string() })
    .meta({ description: 'The author: an API key by its public key, or a user by id.' }),
};

export const savedPart = z.strictObject(saved).meta({ id: 'SavedPart' });

export const lessonDraft = z
  .strictObject({
    id: uuid,
    lessonId: uuid,
    versionId: uuid.meta({
      description: 'The newest version that was made of the draft, else the one that it began with.',
    }),
    createdAt: time,
    ...saved,
    skeleton: jsonObject.meta({
      description:
        'A `lesson.json` whose steps have no `content`: the lesson, its sections and its steps, in their order. ' +
        '`revision` is that of the skeleton.',
    }),
    steps: z
      .array(z.strictObject({ stepId: z.string(), ...saved }))
      .meta({ description: 'Also those that were removed from the skeleton.' }),
  })
  .meta({ id: 'LessonDraft' });

export const draftStep = z
  .strictObject({
    stepId: z.string(),
    ...saved,
    content: jsonObject.meta({ description: 'The `content` of the step in `lesson.json`.' }),
  })
  .meta({ id: 'DraftStep' });

/** The error of a save that builds on another revision. Its body has the present state, too. */
const conflictText = 'Another author has saved in the meantime';
const conflict = { error: z.literal(conflictText), code: z.literal('CONFLICT') };
export const conflictMembers = { error: conflictText, code: 'CONFLICT' } as const;
export const draftConflict = lessonDraft.extend(conflict).meta({ id: 'LessonDraftConflict' });
export const stepConflict = draftStep.extend(conflict).meta({ id: 'DraftStepConflict' });

export const savedExample = {
  revision: 3,
  savedAt: '2026-11-21T09:12:04.000Z',
  savedBy: { type: 'user', id: '5b1f0c52-6f37-4f0e-8d0e-6a2f6c1d9e77' },
} as const;
export const stepExample = {
  stepId: example.stepId,
  ...savedExample,
  content: { content: [{ type: 'Text', props: { id: 't1', html: '<p>Water rises.</p>' } }], root: {} },
};
export const draftExample = {
  id: '3d5c2a41-9f0e-4c53-8f1d-0a6b7c8d9e10',
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

type Saved = Pick<LessonDraft, 'revision' | 'savedAt' | 'savedBy'>;

export function presentSaved({ revision, savedAt, savedBy: { type, id } }: Saved): z.input<typeof savedPart> {
  return {
    revision,
    savedAt: savedAt.toISOString(),
    savedBy: { type: type === 'user' ? 'user' : 'key', id },
  };
}

export function presentDraft(draft: LessonDraft, steps: readonly Omit<DraftStep, 'content'>[]) {
  const { _id: id, lessonId, versionId, createdAt, skeleton } = draft;
  return {
    ...{ id, lessonId, versionId, createdAt: createdAt.toISOString(), ...presentSaved(draft) },
    skeleton: new RawJson(skeleton),
    steps: steps.map((step) => ({ stepId: step.stepId, ...presentSaved(step) })),
  };
}

export function presentStep(step: DraftStep) {
  return { stepId: step.stepId, ...presentSaved(step), content: new RawJson(step.content) };
}

export function presentConflict<T extends object>(present: T): T & typeof conflictMembers {
  return { ...conflictMembers, ...present };
}

const revisionFault = 'revision must be the revision that the save builds on';
const baseRevision = z
  .int(revisionFault)
  .min(0, revisionFault)
  .meta({ description: 'The revision that the save builds on: 0 for a new step.' });
const title = z.string('title must be a string');

const savedSkeleton = z.strictObject(
  {
    revision: baseRevision,
    skeleton: z.looseObject(
      {
        lesson: z.looseObject({ id: uuid.optional(), title }, 'lesson must be an object'),
        sections: z.array(
          z.looseObject({
            id: identifier,
            title,
            steps: z.array(z.looseObject({ id: identifier, title }), 'steps must be an array'),
          }),
          'sections must be an array',
        ),
      },
      'skeleton must be an object',
    ),
  },
  { error: objectFault },
);

const savedStep = z.strictObject(
  {
    revision: baseRevision,
    content: z.looseObject(
      { content: z.array(z.unknown(), 'content must be an array') },
      'content must be an object',
    ),
  },
  { error: objectFault },
);

export const skeletonFaults = {
  sameIds: 'Two steps have the same id',
  otherLesson: 'lesson.id must be the id of the lesson',
};

/** Parses the body, and keeps the text of the skeleton unchanged. */
export const skeletonBody = jsonBody({
  maxBytes: maxPartBytes,
  description: 'Step ids are unique.',
  schema: savedSkeleton,
  faults: Object.values(skeletonFaults),
  parse(text) {
    const { revision, skeleton } = parseRequest(savedSkeleton, JSON.parse(text), 'INVALID_CONTENT');
    const written = objectMembers(text).get('skeleton') ?? '{}';
    const stepIds = stepIdsOf(written);
    if (new Set(stepIds).size < stepIds.length)
      throw new LecternError('INVALID_CONTENT', skeletonFaults.sameIds);
    return { revision, skeleton: written, lessonId: skeleton.lesson.id };
  },
  examples: {
    renamed: {
      value: {
        revision: 1,
        skeleton: {
          lesson: { title: 'How tides work' },
          sections: [{ id: 's1', title: 'The Moon', steps: [{ id: example.stepId, title: 'A harbour' }] }],
        },
      },
    },
  },
});

/** Parses the body, and keeps the text of the content unchanged. */
export const stepBody = jsonBody({
  maxBytes: maxPartBytes,
  description: 'Unknown fields beside `content` are rejected.',
  schema: savedStep,
  parse(text) {
    const { revision } = parseRequest(savedStep, JSON.parse(text), 'INVALID_CONTENT');
    return { revision, content: objectMembers(text).get('content') ?? '{}' };
  },
  examples: {
    one: {
      value: {
        revision: 3,
        content: { content: [{ type: 'Text', props: { id: 't1', html: '<p>Water rises.</p>' } }], root: {} },
      },
    },
  },
});
