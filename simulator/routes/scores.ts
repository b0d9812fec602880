import type Router from '@koa/router';
import { z } from 'zod';
import { requireAccess, requireLineItem, requireType } from '../access.ts';
import { createRouter, failing, readJson, Refusal, renderRefusals } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import { addressOfLineItem, currentScores } from '../line-items.ts';
import type { LineItem, Score } from '../model.ts';
import type { Platform } from '../platform.ts';
import { withPathSuffix } from '../addresses.ts';
import {
  activityProgresses,
  canvasSubmission,
  gradingProgresses,
  learnerRole,
  mediaType,
  scope,
} from '../vocabulary.ts';

/** ISO 8601 with fractions of a second and a time zone. */
const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}(Z|[+-]\d\d:?\d\d)$/;

const scoreSchema = z
  .object({
    userId: z.string().min(1),
    timestamp: z
      .string()
      .regex(timestampPattern, 'has to be ISO 8601 with fractions of a second and a time zone')
      .refine((text) => !Number.isNaN(Date.parse(text)), 'is no time'),
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
      message: 'is needed with scoreGiven',
    },
  );

/** Scores of AGS: what tools say of a user's work. */
export function scoreRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter('/services/:course/lineitems/:id/lineitem/scores');
  router.post('/', failing(platform, 'scores'), renderRefusals(platform, 'score'), (ctx) => {
    const { lineItem, score } = acceptScore(ctx, platform);
    platform.scores.push(score);
    const summary = `${describe(score)} for ${lineItem.label}`;
    platform.journal.tell({ kind: 'score', accepted: true, summary, content: ctx.state.body });
    const results = withPathSuffix(addressOfLineItem(platform, lineItem), '/results');
    ctx.body = { resultUrl: withPathSuffix(results, `/${encodeURIComponent(score.userId)}`) };
  });
  return router;
}

function acceptScore(ctx: Context, platform: Platform): { lineItem: LineItem; score: Score } {
  const tool = requireAccess(ctx, platform, scope.score);
  const lineItem = requireLineItem(ctx, platform, tool);
  requireType(ctx, mediaType.score);
  const parsed = scoreSchema.safeParse(readJson(ctx));
  if (!parsed.success) throw new Refusal(400, 'invalid_request', z.prettifyError(parsed.error));
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

/** Moodle's rule: only who can have a grade in the course gets one. */
function requireLearner({ users }: Platform, { courseId }: LineItem, userId: string): void {
  const user = users.get(userId);
  const isMember = user !== undefined && (user.courseIds === null || user.courseIds.includes(courseId));
  if (!isMember || user.anonymous || !user.roles.includes(learnerRole)) {
    throw new Refusal(400, 'invalid_request', 'The user is not one who can be graded in this course.');
  }
}

/** A score that is not newer than the last one is not stored. */
function requireNewer(platform: Platform, { lineItemId, userId, timestamp }: Score): void {
  const last = currentScores(platform, lineItemId).get(userId);
  const { timestamps } = platform.settings;
  const unit = timestamps === 'seconds' ? 1000 : 1;
  const timeOf = (text: string) => Math.floor(Date.parse(text) / unit);
  if (last !== undefined && timeOf(timestamp) <= timeOf(last.timestamp)) {
    const message = `There is a score of ${last.timestamp}, and this one is not newer, in ${timestamps}.`;
    throw new Refusal(409, 'conflict', message);
  }
}

/** Canvas' rule: a score that counts as a submission needs an attempt that is left, whatever it says. */
function requireAttempt({ scores, settings }: Platform, { lineItemId, userId, newSubmission }: Score): void {
  if (!newSubmission) return;
  const used = scores.filter(
    (score) => score.newSubmission && score.lineItemId === lineItemId && score.userId === userId,
  );
  if (used.length < settings.attempts) return;
  throw new Refusal(422, 'unprocessable_entity', 'The allowed attempts of this user are used up.');
}

function describe({ scoreGiven, scoreMaximum, activityProgress, gradingProgress }: Score): string {
  const points = scoreGiven === null ? 'no score' : `${scoreGiven} of ${scoreMaximum ?? '?'}`;
  return `${points}, ${activityProgress}, ${gradingProgress}`;
}
