import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { userPlayerDataRequest } from '../../lessons/lesson-player-data.endpoints.ts';
import { listedLessonId, lessonListQuery } from '../../lessons/lessons.endpoints.ts';
import { lessonPage, lessonVersions, userPlayerData } from '../bodies.ts';
import * as example from '../examples.ts';
import { forCallers, forUsers } from '../headers.ts';
import { jsonResponse, limitedFailures } from '../responses.ts';
import { withCredentialsOrSession, withSession } from '../security.ts';

const unexpected = { when: 'Something failed on the server.', texts: ['An unexpected error occurred'] };
const notLoggedIn = {
  when: 'There is no session, or it has ended.',
  texts: ['Authentication failed'],
};
const noCaller = {
  when: 'The credentials, or without an Authorization header the session, are missing or not good.',
  texts: ['Authentication failed'],
};

/** What lessons an organization has, for its systems and its users. */
export const lessonPaths: ZodOpenApiPathsObject = {
  '/api/lessons': {
    get: {
      operationId: 'listLessons',
      tags: ['Lessons'],
      summary: 'List lessons',
      description:
        "The organization's lessons, the newest first, drafts included. Follow `nextCursor` until it is null: " +
        'nothing is listed twice, and nothing that stays is missed. With `status` a page may be short before the end.',
      security: withCredentialsOrSession,
      requestParams: { query: lessonListQuery },
      responses: {
        200: jsonResponse('A page of lessons.', lessonPage, forCallers, {
          onePage: { value: { lessons: [example.listedLesson], nextCursor: null } },
        }),
        ...limitedFailures(
          {
            401: noCaller,
            422: {
              when: 'A parameter is unknown or not as it has to be.',
              texts: [
                'status must be published, draft or unpublished',
                'limit must be a whole number between 1 and 100',
                'cursor is not valid',
                'page is not a known parameter',
              ],
            },
            500: unexpected,
          },
          forCallers,
        ),
      },
    },
  },
  '/api/lessons/{lessonId}/versions': {
    get: {
      operationId: 'listLessonVersions',
      tags: ['Lessons'],
      summary: 'List the versions of a lesson',
      description: 'The newest first, drafts included; at most the newest 1000.',
      security: withCredentialsOrSession,
      requestParams: { path: z.object({ lessonId: listedLessonId }) },
      responses: {
        200: jsonResponse('The versions.', lessonVersions, forCallers, {
          two: {
            summary: 'A draft, and the version that is published',
            value: {
              versions: [
                {
                  id: 'e7c1a3f9-5b2d-4c8e-9f0a-1b2c3d4e5f60',
                  versionNumber: 2,
                  status: 'draft',
                  publishedAt: null,
                },
                { ...example.listedLesson.latestVersion, status: 'published' },
              ],
            },
          },
        }),
        ...limitedFailures(
          {
            401: noCaller,
            404: {
              when: "The lesson does not exist, is deleted or another organization's.",
              texts: ['Lesson not found'],
            },
            422: {
              when: 'The lesson id is no UUID, or there are query parameters.',
              texts: ['Invalid lesson ID format', 'page is not a known parameter'],
            },
            500: unexpected,
          },
          forCallers,
        ),
      },
    },
  },
  '/api/lessons/{lessonId}/player-data': {
    get: {
      operationId: 'getUserPlayerData',
      tags: ['Lessons'],
      summary: 'Load a lesson as a user',
      description:
        'Player data for whoever is logged in, without a token: for previews. Without `versionId` the version that ' +
        'was published last; with it any version, drafts included. What cannot be played yet is loaded all the same, ' +
        'with `playability.valid` false.',
      security: withSession,
      requestParams: {
        path: userPlayerDataRequest.pick({ lessonId: true }),
        query: userPlayerDataRequest.omit({ lessonId: true }),
      },
      responses: {
        200: jsonResponse('The lesson.', userPlayerData, forUsers, {
          lesson: {
            value: {
              lesson: example.playerLesson,
              userAttributes: {
                userId: example.userSession.user.id,
                email: example.userSession.user.email,
                role: example.userSession.user.role,
              },
              playability: { valid: true, errors: [] },
            },
          },
        }),
        ...limitedFailures(
          {
            400: {
              when: 'An id is no UUID, or an option is neither true nor false.',
              texts: [
                'Invalid lesson ID',
                'Invalid version ID',
                'include_metadata must be true or false',
                'validate_playability must be true or false',
              ],
            },
            401: notLoggedIn,
            404: {
              when:
                "The lesson or the version does not exist, is deleted or another organization's, or nothing is " +
                'published and no version was named.',
              texts: ['Lesson or version not found'],
            },
            500: {
              when: 'Something failed on the server.',
              texts: ['An unexpected error occurred while fetching lesson data'],
            },
          },
          forUsers,
        ),
      },
    },
  },
};
