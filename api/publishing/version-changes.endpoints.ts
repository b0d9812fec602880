import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { taskWait } from '../../shared/platform/tasks.ts';
import { compareVersions } from '../../shared/publishing/compare-versions.ts';
import type { VersionComparison } from '../../shared/publishing/compare-versions.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint, unknownParameter } from '../http/endpoint.ts';
import * as example from '../http/examples.ts';
import { count, failure, json, uuid } from '../http/responses.ts';
import { idOf, notFound, ofVersion, requireVersion } from './version-requests.ts';

const place = z.strictObject({
  id: z.string(),
  title: z.string(),
  number: z.int().min(1).meta({ description: 'Its place in its section or lesson.' }),
});
const partCounts = z.strictObject({ added: count, removed: count, moved: count, changed: count });
const comparedVersion = z.strictObject({ versionId: uuid, versionNumber: z.int().min(1) });
const changedText = z.string().nullable();

const versionChange = z
  .strictObject({
    kind: z.enum(['lesson', 'section', 'step', 'block']),
    changes: z.array(z.enum(['added', 'removed', 'moved', 'changed'])).meta({
      description: '`added` or `removed` alone, otherwise `moved`, `changed` or both.',
    }),
    section: place.nullable(),
    step: place.nullable(),
    block: z
      .strictObject({
        id: z.string(),
        type: z.string(),
        text: z.string().meta({ description: 'The beginning of its text, without markup.' }),
      })
      .nullable(),
    from: z
      .strictObject({ section: place, step: place.nullable() })
      .nullable()
      .meta({ description: 'Where it was, if in another section or step.' }),
    formerId: z
      .string()
      .nullable()
      .meta({ description: 'Its earlier id, if another one. Answers of learners are kept by id.' }),
    values: z.array(
      z.strictObject({
        path: z
          .string()
          .meta({ description: 'A setting of the lesson, or a prop of the block: `choices[b].html`.' }),
        before: changedText.meta({ description: 'A text, or JSON; null if missing.' }),
        after: changedText,
        isCut: z.boolean().meta({ description: 'Whether a text has more than 4000 characters.' }),
      }),
    ),
  })
  .meta({ id: 'VersionChange' });

const versionChanges = z
  .strictObject({
    lessonId: uuid,
    before: comparedVersion,
    after: comparedVersion,
    summary: z.strictObject({
      settings: count.meta({ description: 'Changed settings of the lesson.' }),
      sections: partCounts,
      steps: partCounts,
      blocks: partCounts,
      media: z.strictObject({ added: count, removed: count, replaced: count }),
    }),
    changes: z.array(versionChange).meta({ description: 'In the order of the lesson, at most 500.' }),
    media: z
      .array(
        z.strictObject({
          id: uuid,
          change: z.enum(['added', 'removed', 'replaced']),
          mimeType: z.string(),
        }),
      )
      .meta({ description: 'Media files, compared by digest, at most 500.' }),
    isComplete: z
      .boolean()
      .meta({ description: 'False if there are more changes. The summary counts all of them.' }),
  })
  .meta({ id: 'VersionChanges' });

function presentComparison(
  before: LessonVersion,
  after: LessonVersion,
  comparison: VersionComparison,
): z.input<typeof versionChanges> {
  const named = ({ _id: versionId, versionNumber }: LessonVersion) => ({ versionId, versionNumber });
  return { lessonId: after.lessonId, before: named(before), after: named(after), ...comparison };
}

const unchanged = { added: 0, removed: 0, moved: 0, changed: 0 };
const changesExample = {
  lessonId: example.lessonId,
  before: { versionId: '0f6f3d0a-6b1e-4c0f-8a55-1f0a9d6f7c21', versionNumber: 1 },
  after: { versionId: example.versionId, versionNumber: 2 },
  summary: {
    ...{ settings: 0, sections: unchanged, steps: unchanged, blocks: { ...unchanged, changed: 1 } },
    media: { added: 0, removed: 0, replaced: 0 },
  },
  changes: [
    {
      kind: 'block' as const,
      changes: ['changed' as const],
      section: { id: 'c1f0b8c2-7f57-4a52-9d1a-0f2f6f0f4f11', title: 'Tides', number: 1 },
      step: { id: example.stepId, title: 'Why the sea rises', number: 1 },
      block: { id: 'Text-1', type: 'Text', text: 'The Moon pulls the water.' },
      ...{ from: null, formerId: null },
      values: [
        {
          path: 'html',
          before: '<p>The Moon pulls the sea.</p>',
          after: '<p>The Moon pulls the water.</p>',
          isCut: false,
        },
      ],
    },
  ],
  media: [],
  isComplete: true,
};

/** GET /api/lessons/{lessonId}/versions/{versionId}/changes */
export const compare = defineEndpoint(
  {
    ...ofVersion,
    method: 'get',
    path: '/api/lessons/:lessonId/versions/:versionId/changes',
    access: apiAccess,
    scope: 'read',
    query: z.strictObject({ since: idOf('earlier version') }, { error: unknownParameter }),
    operationId: 'compareVersions',
    summary: 'Compare two versions',
    description:
      'Returns what changed since another version of the lesson: sections, steps and blocks by id, values of blocks, ' +
      'settings of the lesson, and media files by digest.',
    responses: {
      200: json('The changes.', versionChanges, { oneChange: { value: changesExample } }),
      404: notFound,
      422: failure('An id is invalid, `since` is missing, or the versions are too large to compare.'),
    },
  },
  ({ db }: { db: Database }) =>
    async (request) => {
      const { lessonId } = request.params;
      const [before, after] = await Promise.all([
        requireVersion(db, { ...request, params: { lessonId, versionId: request.query.since } }),
        requireVersion(db, request),
      ]);
      const wait = { ...taskWait, signal: request.ctx.state.signal };
      return {
        status: 200,
        body: presentComparison(before, after, await compareVersions(db, before, after, wait)),
      };
    },
);
