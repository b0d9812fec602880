import type Router from '@koa/router';
import { z } from 'zod';
import { canvasSubmission } from '../../shared/lti/claims.ts';
import { requireAccess, requireLineItem, requireType } from '../access.ts';
import { createRouter, applyFaults, readJson, Rejection, renderRejections } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import { lineItemUrlOf, currentScores } from '../line-items.ts';
import type { LineItem, Score } from '../model.ts';
import type { Platform } from '../platform.ts';
import { withPathSuffix } from '../urls.ts';
import { activityProgresses, gradingProgresses, learnerRole, mediaType, scope } from '../vocabulary.ts';

/** ISO 8601 with fractions of a second and a time zone. */
const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}(Z|[+-]\d\d:?\d\d)$/;

const scoreSchema = z
  .object({
    userId: z.string().min(1),
    timestamp: z
      .string()
      .regex(timestampPattern, 'must be ISO 8601 with fractions of a second and a time zone')
      .refine((text) => !Number.isNaN(Date.parse(text)), 'is not a time'),
    activityProgress: z.enum(activityProgresses),
    gradingProgress: z.enum(gradingProgresses),
    scoreGiven: z.number().nonnegative().nullish(),
    scoreMaximum: z.number().positive().nullish(),
    comment: z.string().nullish(),
    [canvasSubmission]: z.looseObject({ new_submission: z.boolean().optional() }).optional(),
  })
  .refine(
    ({ scoreGiven, scoreMaximum }) => (scoreGiven ?? null) === null || (scoreMaximum ?? null) !== null,
    {
      path: ['scoreMaximum'],
      message: 'is required with scoreGiven',
    },
  );

/** Scores of AGS. */
export function scoreRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter('/services/:course/lineitems/:id/lineitem/scores');
  router.post('/', applyFaults(platform, 'scores'), renderRejections(platform, 'score'), (ctx) => {
    const { lineItem, score } = acceptScore(ctx, platform);
    platform.scores.push(score);
    const summary = `${describe(score)} for ${lineItem.label}`;
    platform.journal.addMessage({ kind: 'score', accepted: true, summary, content: ctx.state.body });
    const results = withPathSuffix(lineItemUrlOf(platform, lineItem), '/results');
    ctx.body = { resultUrl: withPathSuffix(results, `/${encodeURIComponent(score.userId)}`) };
  });
  return router;
}

function acceptScore(ctx: Context, platform: Platform): { lineItem: LineItem; score: Score } {
  const tool = requireAccess(ctx, platform, scope.score);
  const lineItem = requireLineItem(ctx, platform, tool);
  requireType(ctx, mediaType.score);
  const parsed = scoreSchema.safeParse(readJson(ctx));
  if (!parsed.success) throw new Rejection(400, 'invalid_request', z.prettifyError(parsed.error));
  const { scoreGiven = null, scoreMaximum = null, comment = null, ...said } = parsed.data;
  const { [canvasSubmission]: submission, ...standard } = said;
  const score = {
    ...standard,
    ...{ scoreGiven, scoreMaximum, comment },
    newSubmission: submission?.new_submission ?? true,
    lineItemId: lineItem.id,
    receivedAt: new Date(),
  };
  requireLearner(platform, lineItem, score.userId);
  requireNewer(platform, score);
  requireAttempt(platform, score);
  return { lineItem, score };
}

/** Moodle's rule: only learners of the course can be graded. */
function requireLearner({ users }: Platform, { courseId }: LineItem, userId: string): void {
  const user = users.get(userId);
  const isMember = user !== undefined && (user.courseIds === null || user.courseIds.includes(courseId));
  if (!isMember || user.anonymous || !user.roles.includes(learnerRole)) {
    throw new Rejection(400, 'invalid_request', 'The user must be a learner of the course.');
  }
}

/** Each score must be newer than the last one. */
function requireNewer(platform: Platform, { lineItemId, userId, timestamp }: Score): void {
  const last = currentScores(platform, lineItemId).get(userId);
  const { timestamps } = platform.settings;
  const unit = timestamps === 'seconds' ? 1000 : 1;
  const timeOf = (text: string) => Math.floor(Date.parse(text) / unit);
  if (last !== undefined && timeOf(timestamp) <= timeOf(last.timestamp)) {
    const message = `There is a score of ${last.timestamp}, and this one is not newer, in ${timestamps}.`;
    throw new Rejection(409, 'conflict', message);
  }
}

/** Canvas's rule: a submission needs a remaining attempt. */
function requireAttempt({ scores, settings }: Platform, { lineItemId, userId, newSubmission }: Score): void {
  if (!newSubmission) return;
  const used = scores.filter(
    (score) => score.newSubmission && score.lineItemId === lineItemId && score.userId === userId,
  );
  if (used.length < settings.attempts) return;
  throw new Rejection(422, 'unprocessable_entity', 'The allowed attempts of this user are used up.');
}

function describe({ scoreGiven, scoreMaximum, activityProgress, gradingProgress }: Score): string {
  const points = scoreGiven === null ? 'no score' : `${scoreGiven} of ${scoreMaximum ?? '?'}`;
  return `${points}, ${activityProgress}, ${gradingProgress}`;
}
