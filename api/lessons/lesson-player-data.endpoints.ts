import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { findLessonVersion } from '../../shared/models/lesson-list.ts';
import { findPlayedVersion } from '../../shared/models/lesson-version.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { sessionAccess } from '../accounts/access.ts';
import { presentUser } from '../accounts/present-session.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { textErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { failure, json } from '../http/responses.ts';
import { userPlayerData } from '../player/bodies.ts';
import { playerDataOptions, sendPlayerData } from '../player/player-data.ts';
import type { PlayerDataDependencies } from '../player/player-data.ts';

const notFound = 'Lesson or version not found';

/**
 * GET /api/lessons/{lessonId}/player-data: player data of any version for users. A lesson that cannot be played yet is
 * loaded too, so that an author sees what is missing.
 */
export const getUserPlayerData = defineEndpoint(
  {
    method: 'get',
    path: '/api/lessons/:lessonId/player-data',
    access: sessionAccess,
    scope: 'read',
    errors: textErrors('An unexpected error occurred while fetching lesson data'),
    params: z.object({
      lessonId: z.guid('Invalid lesson ID').toLowerCase().meta({ description: 'Id of the lesson.' }),
    }),
    query: z.object({
      versionId: z
        .guid('Invalid version ID')
        .toLowerCase()
        .optional()
        .meta({ description: 'Any version of the lesson, including unpublished ones.' }),
      ...playerDataOptions,
    }),
    operationId: 'getUserPlayerData',
    tag: 'Lessons',
    summary: 'Load a lesson as a user',
    description:
      'Player data for previews, for a logged-in user instead of a token. Without `versionId` returns the version ' +
      'that was published last; with it any version, including drafts. Lessons that cannot be played yet are ' +
      'returned with `playability.valid` false.',
    responses: {
      200: json('The lesson.', userPlayerData, {
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
      400: failure('An id is not a UUID, or an option is neither true nor false.'),
      404: failure(
        'The lesson or version does not exist, was deleted, belongs to another organization, or is not published.',
        notFound,
      ),
    },
  },
  (deps: PlayerDataDependencies & { db: Database; lessons: Pick<PreparedLessons, 'knownFacts'> }) =>
    async ({ ctx, caller, params: { lessonId }, query: { versionId, ...options } }) => {
      const { user } = caller;
      // An operator, who has none, lacks the permission.
      const organizationId = user.organizationId ?? '';
      const version =
        versionId === undefined
          ? await findPlayedVersion(deps.db, organizationId, lessonId, null)
          : await findLessonVersion(deps.db, organizationId, lessonId, versionId);
      if (version === null) throw new LecternError('NOT_FOUND', notFound);
      const facts = await deps.lessons.knownFacts(version._id);
      // In the place of a learner's attributes.
      const { id: userId, email, role } = presentUser(user);
      const userAttributes = JSON.stringify({ userId, email, role });
      await sendPlayerData(deps, ctx, version, { facts, userAttributes, options });
      return written;
    },
);
