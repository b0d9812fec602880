import type Router from '@koa/router';
import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import { listLessonVersions, pageOfLessons } from '../../shared/models/lesson-list.ts';
import { versionStatuses } from '../../shared/models/lesson-version.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { lessonCursor, toLessonCursor } from './page-cursor.ts';
import { bearerOrSession } from '../http/middleware/authentication.ts';
import { renderErrors, shapeA } from '../http/middleware/errors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { noStore } from '../http/middleware/no-store.ts';
import { sessionOrigins } from '../http/middleware/session-cors.ts';
import { parseRequest } from '../http/parse-request.ts';
import { presentLessonPage, presentVersions } from './present-lesson.ts';
import { createRouter } from '../http/router.ts';

const limitRule = 'limit must be a whole number between 1 and 100';

export const lessonListQuery = z.strictObject(
  {
    status: z
      .enum(versionStatuses, 'status must be published, draft or unpublished')
      .optional()
      .meta({ description: 'Only lessons with this status.' }),
    limit: z
      .string(limitRule)
      .regex(/^\d{1,3}$/, limitRule)
      .transform(Number)
      .refine((limit) => limit >= 1 && limit <= 100, limitRule)
      .default(50)
      .meta({
        description: 'The most lessons of one page.',
        override: { type: 'integer', pattern: undefined, minimum: 1, maximum: 100, default: 50 },
      }),
    cursor: lessonCursor.optional().meta({ description: 'The `nextCursor` of the page before.' }),
  },
  { error: nameUnknown },
);
const versionsSchema = z.strictObject({}, { error: nameUnknown });
export const listedLessonId = z
  .guid('Invalid lesson ID format')
  .toLowerCase()
  .meta({ description: 'Id of the lesson.' });

/** What lessons the caller's organization has, and what versions of each, drafts included. */
export function lessonRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/api/lessons');
  router.use(renderErrors(shapeA));
  router.use(noStore);
  router.use(sessionOrigins(deps.config, 'GET'));
  router.use(bearerOrSession(deps));

  router.get('/', async (ctx) => {
    const query = parseRequest(lessonListQuery, ctx.query, 'INVALID_CONTENT');
    const { status = null, limit, cursor = null } = query;
    const { organization } = ctx.state;
    const page = await pageOfLessons(deps.db, organization._id, { status, limit, after: cursor });
    ctx.body = presentLessonPage(page, page.next === null ? null : toLessonCursor(page.next));
  });

  router.get('/:lessonId/versions', async (ctx) => {
    const lessonId = parseRequest(listedLessonId, ctx.params.lessonId, 'INVALID_CONTENT');
    parseRequest(versionsSchema, ctx.query, 'INVALID_CONTENT');
    const versions = await listLessonVersions(deps.db, ctx.state.organization._id, lessonId);
    if (versions === null) throw new LecternError('NOT_FOUND', 'Lesson not found');
    ctx.body = presentVersions(versions);
  });

  router.all(['/', '/:lessonId/versions'], methodNotAllowed('GET, HEAD'));
  return router;
}

function nameUnknown(issue: { code?: string; keys?: string[] }): string | undefined {
  return issue.code === 'unrecognized_keys' ? `${issue.keys?.[0] ?? ''} is not a known parameter` : undefined;
}
