import type { PipelineStage } from 'mongoose';
import {
  claimDelivery,
  dismissDeliveries,
  endTry,
  failedTry,
  forgetsWhenIdle,
  hasFailedTooLong,
  later,
  literal,
  noFailures,
  when,
} from '../deliveries/outbox.ts';
import type { DeliveryFailure, DeliveryState, Expression } from '../deliveries/outbox.ts';
import type { LtiLearner } from './lti-progress.ts';
import type { LtiScore, LtiScoreDb, ScoreValues, SentScore, WantedScore } from './lti-score.ts';

/**
 * How scores change in the outbox (shared/deliveries/outbox.ts), besides claims and the ends of tries:
 *
 *     wanted changes:   idle, failed -> waiting (idle where the platform has just this)
 *     end of a try:     waiting where something else is wanted by now
 *     dismissed:        failed -> idle; of a platform that was removed also waiting -> idle
 */

/** Some platforms, Moodle among them, compare timestamps by the second, and refuse or drop what is not later. */
const spacingMs = 1000;

/** What makes a difference to a gradebook: another attempt with the same points makes none. */
const valueFields = ['scoreGiven', 'scoreMaximum'] as const;

function isSame(field: 'wanted' | 'sent', values: ScoreValues): Expression {
  return { $and: valueFields.map((name) => ({ $eq: [`$${field}.${name}`, { $literal: values[name] }] })) };
}

/** When the next timestamp may follow the last one. Where that one is ahead of the clock, waiting is no use. */
const spaced = when({ $gt: ['$lastTimestamp', '$$NOW'] }, '$$NOW', {
  $max: ['$$NOW', { $add: ['$lastTimestamp', spacingMs] }],
});

/**
 * Tells all rows of a learner's record what the platform should have. A row that knows of a later revision stays.
 *
 * @returns how many rows changed.
 */
export async function wantScore(db: LtiScoreDb, learner: LtiLearner, wanted: WantedScore): Promise<number> {
  const { organizationId, platformId, ltiUserId, lessonId, contextId } = learner;
  const { modifiedCount } = await db.ltiScores.updateMany(
    {
      ...{ organizationId, platformId, ltiUserId, lessonId, contextId },
      $or: [{ wanted: null }, { 'wanted.revision': { $lt: wanted.revision } }],
    },
    wantUpdate(wanted),
    { updatePipeline: true },
  );
  return modifiedCount;
}

function wantUpdate(wanted: WantedScore): PipelineStage.Set[] {
  const changed = { $not: [isSame('wanted', wanted)] };
  // The last try that began is the one that was taken: nothing else may have reached the platform since.
  const held = { $and: [isSame('sent', wanted), { $eq: ['$sent.timestamp', '$lastTimestamp'] }] };
  // What waits already keeps its pace: a platform that is down does not come back for a new score.
  const starts = { $and: [changed, { $ne: ['$state', 'waiting'] }] };
  const hasFailed = { $and: [changed, { $ne: ['$failure', null] }] };
  const failure = when(hasFailed, { $mergeObjects: ['$failure', { since: '$$NOW' }] }, '$failure');
  return [
    {
      $set: {
        wanted: literal(wanted),
        state: when(changed, when(held, 'idle', 'waiting'), '$state'),
        nextTryAt: when(starts, spaced, '$nextTryAt'),
        tries: when(starts, 0, '$tries'),
        // But the new score has as long to get through as any other.
        failingSince: when(changed, null, '$failingSince'),
        failure: when(starts, null, failure),
      },
    },
    forgetsWhenIdle,
  ];
}

/**
 * Has rows sent at once, whatever became of them before.
 *
 * @returns how many there are that have something to send.
 */
export async function retryScores(db: LtiScoreDb, ids: readonly string[]): Promise<number> {
  const { matchedCount } = await db.ltiScores.updateMany(
    { _id: { $in: [...ids] }, wanted: { $ne: null } },
    [{ $set: { state: 'waiting', nextTryAt: spaced, ...noFailures } }],
    { updatePipeline: true },
  );
  return matchedCount;
}

/** Lets rows be that failed, until their score changes, their learner launches again, or somebody asks for them. */
export async function dismissScores(db: LtiScoreDb, ids: readonly string[]): Promise<void> {
  await dismissDeliveries(db.ltiScores, { _id: { $in: [...ids] }, state: 'failed' });
}

/** Lets all rows of a platform be that was removed: there is nowhere to send them to. */
export async function dismissScoresOf(db: LtiScoreDb, platformId: string): Promise<void> {
  await dismissDeliveries(db.ltiScores, { platformId, state: { $in: ['failed', 'waiting'] } });
}

/** A row that nobody else sends until its lease ends. */
export interface ClaimedScore extends LtiScore {
  wanted: WantedScore;
  lastTimestamp: Date;
  leaseId: string;
}

/**
 * Takes a row, or the one of a platform that has been due for longest: its lease, and a timestamp later than any
 * before, whatever the clock says. Null when there is none, it is not due, or somebody else sends it.
 */
export function claimScore(
  db: LtiScoreDb,
  which: { id: string } | { platformId: string },
): Promise<ClaimedScore | null> {
  return claimDelivery<LtiScore, ClaimedScore>(
    db.ltiScores,
    'id' in which ? { _id: which.id } : { platformId: which.platformId },
    {
      lastTimestamp: { $max: ['$$NOW', { $add: ['$lastTimestamp', spacingMs] }] },
      // Whoever held the row before has ended in the middle.
      perhapsTaken: when({ $ne: ['$leaseId', null] }, '$wanted.finishedAt', '$perhapsTaken'),
    },
  );
}

/** What a try ended with; the row as it is now, or null when the lease was lost, and nothing changed. */
export type Ended = Promise<LtiScore | null>;

/** Ends a try: the platform took the score. */
export function endAsSent(
  db: LtiScoreDb,
  row: ClaimedScore,
  { lineItemUrl, response }: Pick<SentScore, 'lineItemUrl' | 'response'>,
): Ended {
  const { scoreGiven, scoreMaximum, finishedAt } = row.wanted;
  const values = { scoreGiven, scoreMaximum, finishedAt };
  const sent: SentScore = { ...values, timestamp: row.lastTimestamp, at: new Date(), lineItemUrl, response };
  return endTry(db.ltiScores, row, {
    sent: literal(sent),
    state: endOf(values, 'idle'),
    nextTryAt: spaced,
    perhapsTaken: null,
    ...noFailures,
  });
}

/**
 * Ends a try that failed with what may pass.
 *
 * @param options.milliseconds until the next try.
 * @param options.patience how long a row may fail before that is final: at all, and for the same reason; in
 * milliseconds.
 */
export function endForRetry(
  db: LtiScoreDb,
  row: ClaimedScore,
  {
    failure,
    milliseconds,
    patience,
  }: { failure: Failure; milliseconds: number; patience: { atAll: number; sameReason: number } },
): Ended {
  const failed = failedTry(failure);
  return endTry(db.ltiScores, row, {
    state: when(isUnwanted, 'idle', when(hasFailedTooLong(failed, patience), 'failed', 'waiting')),
    nextTryAt: later(milliseconds),
    ...failed.changes,
    // No answer, or one that may hide that the score was taken.
    ...((failure.status === null || failure.status >= 500) && perhapsTaken(row)),
  });
}

/** Ends a try that failed for good. What is wanted since then is tried all the same. */
export function endAsFailed(db: LtiScoreDb, row: ClaimedScore, failure: Failure): Ended {
  return endTry(db.ltiScores, row, {
    state: endOf(row.wanted, 'failed'),
    nextTryAt: spaced,
    ...failedTry(failure).changes,
  });
}

/** Ends a try that found nowhere to send the score to. What is wanted since then may have. */
export function endAsIdle(db: LtiScoreDb, row: ClaimedScore): Ended {
  return endTry(db.ltiScores, row, { state: endOf(row.wanted, 'idle'), nextTryAt: spaced });
}

/** Ends a try that was cut off, and counts for nothing. */
export function endAsInterrupted(db: LtiScoreDb, row: ClaimedScore): Ended {
  return endTry(db.ltiScores, row, { nextTryAt: '$$NOW', ...perhapsTaken(row) });
}

/** Ends a try that asked the platform nothing, and counts for nothing. */
export function endAsDeferred(db: LtiScoreDb, row: ClaimedScore, milliseconds: number): Ended {
  return endTry(db.ltiScores, row, { nextTryAt: later(milliseconds) });
}

type Failure = Omit<DeliveryFailure, 'since'>;

/** The link leads to another lesson by now, whose record has nothing to tell yet. */
const isUnwanted: Expression = { $eq: ['$wanted', null] };

const perhapsTaken = ({ wanted }: ClaimedScore) => ({ perhapsTaken: wanted.finishedAt });

/** The state after the last try of a score; something else may be wanted by now. */
function endOf(tried: ScoreValues, state: DeliveryState): Expression {
  return when(isUnwanted, 'idle', when(isSame('wanted', tried), state, 'waiting'));
}
