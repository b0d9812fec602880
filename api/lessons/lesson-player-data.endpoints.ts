import type Router from '@koa/router';
import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import { findLessonVersion } from '../../shared/models/lesson-list.ts';
import { findPlayedVersion } from '../../shared/models/lesson-version.ts';
import type { User } from '../../shared/models/user.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { renderErrors, shapeAWith } from '../http/middleware/errors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { noStore } from '../http/middleware/no-store.ts';
import { sessionOrigins } from '../http/middleware/session-cors.ts';
import { session } from '../http/middleware/session.ts';
import { parseRequest } from '../http/parse-request.ts';
import { playerDataOptions, sendPlayerData } from '../player/player-data.ts';
import { createRouter } from '../http/router.ts';

const uuid = (name: string) => z.guid(`Invalid ${name} ID`).toLowerCase();
export const userPlayerDataRequest = z.object({
  lessonId: uuid('lesson').meta({ description: 'Id of the lesson.' }),
  versionId: uuid('version')
    .optional()
    .meta({ description: 'Any version of the lesson, also one that is not published.' }),
  ...playerDataOptions,
});

/**
 * Player data for users (the contract's 4.7): what 4.4 answers to a learner's token, but of any version, and also
 * where it cannot be played yet, so that an author sees what is missing.
 */
export function lessonPlayerDataRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/api/lessons/:lessonId/player-data');
  router.use(renderErrors(shapeAWith('An unexpected error occurred while fetching lesson data')));
  router.use(noStore);
  router.use(sessionOrigins(deps.config, 'GET'));
  router.use(session(deps));

  router.get('/', async (ctx) => {
    const given = { ...ctx.query, lessonId: ctx.params.lessonId };
    const { lessonId, versionId, ...options } = parseRequest(userPlayerDataRequest, given, 'BAD_REQUEST');
    const { organization, user } = ctx.state;
    const version =
      versionId === undefined
        ? await findPlayedVersion(deps.db, organization._id, lessonId, null)
        : await findLessonVersion(deps.db, organization._id, lessonId, versionId);
    if (version === null) throw new LecternError('NOT_FOUND', 'Lesson or version not found');
    const prepared = await deps.lessons.get(version._id);
    if (prepared === undefined) throw new Error(`version ${version._id} has no content`);
    const userAttributes = JSON.stringify(attributesOf(user));
    sendPlayerData(ctx, version, prepared, { userAttributes, options });
  });

  router.all('/', methodNotAllowed('GET, HEAD'));
  return router;
}

/** What widgets are told of who plays, as they are told a learner's attributes. */
function attributesOf({ _id, email, role }: User) {
  return { userId: _id, email, role };
}
