import type Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import { findEmbedHead, findEmbedProgress } from '../../shared/models/embed-progress.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { findLtiHead, findLtiProgress } from '../../shared/models/lti-progress.ts';
import { isHeadOnly } from '../../shared/models/progress-record.ts';
import type { ProgressRecord, RecordHead } from '../../shared/models/progress-record.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { bearer } from '../http/middleware/bearer.ts';
import { renderErrors, shapeAWith } from '../http/middleware/errors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { parseRequest } from '../http/parse-request.ts';
import { presentEmbedProgress, presentLtiProgress } from './present-progress.ts';
import { sendJson } from '../http/send-json.ts';
import { createRouter } from '../http/router.ts';

const lessonId = z.guid('Invalid lesson ID format').toLowerCase().meta({ description: 'Id of the lesson.' });

/** What names a learner, a user, a platform or a context: any text that a record could hold. */
const identifier = (name: string, missing = `${name} is required`) =>
  z
    .string(missing)
    .min(1, missing)
    .regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u, `${name} must be 1 to 255 characters without control characters`);

const isUuid = (text: string) => z.guid().safeParse(text).success;

export const embedProgressPath = z.object({
  lessonId,
  learnerId: identifier('learnerId').meta({
    description: 'The learnerId that the embed token was signed with, percent-encoded where it has to be.',
  }),
});
export const ltiProgressPath = z.object({
  lessonId,
  ltiUserId: identifier('ltiUserId').meta({
    description: "The platform's id of the user, from the launch, percent-encoded where it has to be.",
  }),
});
export const ltiProgressQuery = z.object({
  platformId: identifier('platformId')
    .overwrite((id) => (isUuid(id) ? id.toLowerCase() : id))
    .meta({ description: "Lectern's id of the platform. Case is ignored." }),
  contextId: identifier('contextId', 'contextId must be given once, and must not be empty').optional().meta({
    description:
      "The platform's id of the course. Without it, the record with the latest activity is returned.",
  }),
});

/** Learners' progress for integrators (the contract's 4.1 and 4.2). */
export function progressRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/api/public/lessons/:lessonId');
  router.use(renderErrors(shapeAWith('Failed to fetch progress data')));
  router.use(bearer(deps, 'Authentication failed'));

  router.get('/progress/:learnerId', async (ctx) => {
    const path = parseRequest(embedProgressPath, ctx.params, 'INVALID_CONTENT');
    const organizationId = ctx.state.organization._id;
    const learner = { organizationId, ...path };
    const head = await ofLesson(organizationId, path.lessonId, () => findEmbedHead(deps.db, learner));
    const find = () => findEmbedProgress(deps.db, learner);
    await sendRecord(ctx, head, find, presentEmbedProgress);
  });

  router.get('/lti-progress/:ltiUserId', async (ctx) => {
    const path = parseRequest(ltiProgressPath, ctx.params, 'INVALID_CONTENT');
    const query = parseRequest(ltiProgressQuery, ctx.query, 'INVALID_CONTENT');
    const organizationId = ctx.state.organization._id;
    const learner = { organizationId, ...path, ...query };
    const head = await ofLesson(organizationId, path.lessonId, () => findLtiHead(deps.db, learner));
    const find = () => findLtiProgress(deps.db, learner);
    await sendRecord(ctx, head, find, presentLtiProgress);
  });

  /** A deleted lesson's progress is kept, for the lesson may be imported again, but not shown. */
  async function ofLesson<Record extends ProgressRecord>(
    organizationId: string,
    id: string,
    find: () => Promise<Record | null>,
  ): Promise<Record> {
    const [exists, record] = await Promise.all([lessonExists(deps.db, organizationId, id), find()]);
    if (record !== null && exists) return record;
    throw notStarted();
  }

  /** Large records of one organization are read and printed a few at a time. */
  async function sendRecord<Record extends ProgressRecord>(
    ctx: Context,
    head: RecordHead<Record>,
    find: () => Promise<Record | null>,
    present: (record: Record) => object,
  ): Promise<void> {
    const share = deps.largeTexts.share(head.organizationId, ctx.res);
    await share.run(head.textBytes, async () => {
      const record = isHeadOnly(head) ? await find() : head;
      if (record === null) throw notStarted();
      sendJson(ctx, { ...present(record) });
    });
  }

  router.all(['/progress/:learnerId', '/lti-progress/:ltiUserId'], methodNotAllowed('GET, HEAD'));
  return router;
}

function notStarted(): LecternError {
  return new LecternError('NOT_FOUND', 'No progress found for this learner and lesson');
}
