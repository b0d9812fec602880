import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { languageTag } from '../../shared/packages/lesson-shapes.ts';
import type { Config } from '../../shared/platform/config.ts';
import { taskWait } from '../../shared/platform/tasks.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { copyVersion, createLesson } from '../../shared/publishing/new-lessons.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import * as example from '../http/examples.ts';
import { failure, json, uuid } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { planFailure, requireImports } from '../imports/create-import.ts';
import { common, notFound, ofVersion, requireVersion } from './version-requests.ts';

const title = z
  .string('title must be a text')
  .trim()
  .min(1, 'title must not be empty')
  .max(300, 'title must be at most 300 characters long');
const language = z
  .string('language must be a text')
  .max(35, 'language must be a tag such as en or pt-BR')
  .regex(languageTag, 'language must be a tag such as en or pt-BR');

const newLesson = z
  .strictObject({
    lessonId: uuid,
    versionId: uuid,
    versionNumber: z.int().min(1),
    slug: z.string(),
    title: z.string(),
  })
  .meta({ id: 'NewLesson' });
const newLessonExample = {
  lessonId: example.lessonId,
  versionId: example.versionId,
  versionNumber: 1,
  slug: 'tides',
  title: 'Tides',
};
const failures = {
  403: planFailure,
  413: failure('The body is too large, or the organization may not store more.'),
} as const;

function present({
  lessonId,
  _id,
  versionNumber,
  slug,
  title: named,
}: LessonVersion): z.input<typeof newLesson> {
  return { lessonId, versionId: _id, versionNumber, slug, title: named };
}

interface NewLessonDependencies {
  db: Database;
  config: Pick<Config, 'import'>;
}

/** POST /api/lessons */
export const createOne = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/lessons',
    access: apiAccess,
    scope: 'content',
    audit: 'lesson.create',
    idempotent: true,
    operationId: 'createLesson',
    summary: 'Create a lesson',
    description:
      'Creates a lesson with a draft that can be played: one section with one step, in the language of the lesson.',
    body: strictBody(z.strictObject({ title, language }, { error: objectFault }), {
      tides: { value: { title: 'Tides', language: 'en' } },
    }),
    responses: {
      201: json('The lesson.', newLesson, { one: { value: newLessonExample } }),
      ...failures,
    },
  },
  (deps: NewLessonDependencies) =>
    async ({ caller: { organization }, readBody, newId }) => {
      requireImports(organization);
      const version = await createLesson(deps, organization, newId, await readBody());
      return { status: 201, body: present(version) };
    },
);

/** POST /api/lessons/{lessonId}/versions/{versionId}/copies */
export const copy = defineEndpoint(
  {
    ...ofVersion,
    method: 'post',
    path: '/api/lessons/:lessonId/versions/:versionId/copies',
    access: apiAccess,
    scope: 'content',
    audit: 'lesson.copy',
    idempotent: true,
    operationId: 'copyVersion',
    summary: 'Copy a version',
    description:
      'Creates a lesson with a draft that has the content and media of the version. Sections, steps and blocks keep ' +
      'their ids.',
    body: strictBody(z.strictObject({ title }, { error: objectFault }), {
      copy: { value: { title: 'Tides (copy)' } },
    }),
    responses: {
      201: json('The new lesson.', newLesson, {
        one: { value: { ...newLessonExample, slug: 'tides-copy', title: 'Tides (copy)' } },
      }),
      ...failures,
      404: notFound,
      422: failure('An id or the title is invalid, or the version is too large to copy.'),
    },
  },
  (deps: NewLessonDependencies) => async (request) => {
    const { organization } = request.caller;
    requireImports(organization);
    const source = await requireVersion(deps.db, request);
    const body = await request.readBody();
    const wait = { ...taskWait, signal: request.ctx.state.signal };
    const version = await copyVersion(deps, organization, request.newId, { source, title: body.title }, wait);
    return { status: 201, body: present(version) };
  },
);
