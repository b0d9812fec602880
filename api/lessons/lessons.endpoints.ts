import { z } from 'zod';
import { findReportFormats } from '../../shared/models/conversion-report.ts';
import type { Database } from '../../shared/models/database.ts';
import { findListedLesson, listLessonVersions, pageOfLessons } from '../../shared/models/lesson-list.ts';
import { findLessonUses } from '../../shared/models/lesson-uses.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { versionStatuses } from '../../shared/models/lesson-version.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint, unknownParameter } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { failure, json } from '../http/responses.ts';
import { cursorDescription, pageCursor, pageLimit, toPageCursor } from '../http/pagination.ts';
import {
  activeDays,
  lessonPage,
  lessonUses,
  lessonVersions,
  listedLesson,
  presentLessonPage,
  presentListedLesson,
  presentUses,
  presentVersions,
} from './present-lesson.ts';

const lessonListQuery = z.strictObject(
  {
    status: z
      .enum(versionStatuses, 'status must be published, draft or unpublished')
      .optional()
      .meta({ description: 'Only lessons with this status.' }),
    title: z.string().max(200, 'title must be at most 200 characters long').optional().meta({
      description:
        'Only lessons whose title, or that of their published version, contains these words, in any case, with or without accents.',
    }),
    limit: pageLimit('lessons'),
    cursor: pageCursor.optional().meta({ description: cursorDescription }),
  },
  { error: unknownParameter },
);
const noQuery = z.strictObject({}, { error: unknownParameter });
const listedLessonId = z
  .guid('Invalid lesson ID format')
  .toLowerCase()
  .meta({ description: 'Id of the lesson.' });

const unknownText = 'page is not a known parameter';
const notFoundText = 'Lesson not found';
const notFound = failure(
  'The lesson does not exist, was deleted, or belongs to another organization.',
  notFoundText,
);
const wrongPath = failure('The lesson id is not a UUID, or there are query parameters.', unknownText);

const common = {
  method: 'get',
  access: apiAccess,
  scope: 'read',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Lessons',
} as const;

/** GET /api/lessons: the lessons of the caller's organization. */
export const listLessons = defineEndpoint(
  {
    ...common,
    path: '/api/lessons',
    query: lessonListQuery,
    operationId: 'listLessons',
    summary: 'List lessons',
    description:
      "The organization's lessons, the newest first, drafts included. Follow `nextCursor` until it is null: no lesson " +
      'is listed twice, and none is missed that exists throughout. With `status` or `title`, pages before the last may be short.',
    responses: {
      200: json('A page of lessons.', lessonPage, {
        onePage: { value: { lessons: [example.listedLesson], nextCursor: null } },
      }),
      422: failure('A parameter is unknown or invalid.', unknownText),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, query }) => {
      const { status = null, title, limit, cursor = null } = query;
      const options = { status, limit, after: cursor, ...(title !== undefined && { title }) };
      const page = await pageOfLessons(db, caller.organization._id, options);
      const nextCursor = page.next === null ? null : toPageCursor(page.next);
      return { status: 200, body: presentLessonPage(page, nextCursor) };
    },
);

/** GET /api/lessons/{lessonId} */
export const getLesson = defineEndpoint(
  {
    ...common,
    path: '/api/lessons/:lessonId',
    params: z.object({ lessonId: listedLessonId }),
    query: noQuery,
    operationId: 'getLesson',
    summary: 'Read a lesson',
    description: 'As in the list of lessons.',
    responses: {
      200: json('The lesson.', listedLesson, { one: { value: example.listedLesson } }),
      404: notFound,
      422: wrongPath,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      const found = await findListedLesson(db, caller.organization._id, params.lessonId);
      if (found === null) throw new LecternError('NOT_FOUND', notFoundText);
      return { status: 200, body: presentListedLesson(found) };
    },
);

/** GET /api/lessons/{lessonId}/versions */
export const listVersions = defineEndpoint(
  {
    ...common,
    path: '/api/lessons/:lessonId/versions',
    params: z.object({ lessonId: listedLessonId }),
    query: noQuery,
    operationId: 'listLessonVersions',
    summary: 'List the versions of a lesson',
    description: 'The newest 1000 versions, the newest first, including drafts.',
    responses: {
      200: json('The versions.', lessonVersions, {
        two: {
          summary: 'A draft and the published version',
          value: {
            versions: [
              {
                id: 'e7c1a3f9-5b2d-4c8e-9f0a-1b2c3d4e5f60',
                versionNumber: 2,
                status: 'draft',
                publishedAt: null,
                convertedFrom: 'h5p',
              },
              { ...example.listedLesson.latestVersion, status: 'published', convertedFrom: null },
            ],
          },
        },
      }),
      404: notFound,
      422: wrongPath,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      const versions = await listLessonVersions(db, caller.organization._id, params.lessonId);
      if (versions === null) throw new LecternError('NOT_FOUND', notFoundText);
      const formats = await findReportFormats(
        db,
        versions.map(({ _id }) => _id),
      );
      return { status: 200, body: presentVersions(versions, formats) };
    },
);

/** GET /api/lessons/{lessonId}/uses */
export const getLessonUses = defineEndpoint(
  {
    ...common,
    path: '/api/lessons/:lessonId/uses',
    params: z.object({ lessonId: listedLessonId }),
    query: noQuery,
    operationId: 'getLessonUses',
    summary: 'Read where a lesson is used',
    description: `Counts the learners who were active in the last ${activeDays} days, and the links of learning platforms.`,
    responses: {
      200: json('The uses.', lessonUses, {
        one: {
          value: {
            learners: { days: activeDays, active: 412, isMore: false },
            platforms: [
              {
                platformId: example.ltiProgress.platformId,
                name: 'Moodle',
                issuer: 'https://moodle.example.com',
                links: 3,
                lastLaunchAt: '2026-11-21T09:14:31.027Z',
              },
            ],
          },
        },
      }),
      404: notFound,
      422: wrongPath,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params: { lessonId } }) => {
      const organizationId = caller.organization._id;
      if (!(await lessonExists(db, organizationId, lessonId)))
        throw new LecternError('NOT_FOUND', notFoundText);
      const since = new Date(Date.now() - activeDays * 24 * 3_600_000);
      return { status: 200, body: presentUses(await findLessonUses(db, organizationId, lessonId, since)) };
    },
);
