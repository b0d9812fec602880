import type { ClientSession, PipelineStage } from 'mongoose';
import {
  claimDelivery,
  dismissDeliveries,
  clearFailuresWhenIdle,
  endAttempt,
  failedAttempt,
  hasFailedTooLong,
  later,
  literal,
  noFailures,
  when,
} from '../deliveries/outbox.ts';
import type { DeliveryState, Expression, FailedAttempt, MaxFailingMs } from '../deliveries/outbox.ts';
import type { LtiLearner } from './lti-progress.ts';
import type { LtiScore, LtiScoreDb, ScoreValues, SentScore, WantedScore } from './lti-score.ts';

/**
 * The changes of scores in the outbox, in addition to those of all formats (shared/deliveries/outbox.ts):
 *
 *     wanted changes:     idle, failed -> waiting (idle if the platform already has this score)
 *     end of an attempt:  waiting if another score is wanted by now
 *     dismiss:            failed -> idle; for a removed platform also waiting -> idle
 */

/** Some platforms, such as Moodle, compare timestamps by the second, and reject or ignore scores that are not later. */
const spacingMs = 1000;

/** The fields that change a gradebook: another attempt with the same points changes nothing. */
const valueFields = ['scoreGiven', 'scoreMaximum'] as const;

function isSame(field: 'wanted' | 'sent', values: ScoreValues): Expression {
  return { $and: valueFields.map((name) => ({ $eq: [`$${field}.${name}`, { $literal: values[name] }] })) };
}

/** The earliest time for a later timestamp. If the last one is ahead of the clock, waiting does not help. */
const spaced = when({ $gt: ['$lastTimestamp', '$$NOW'] }, '$$NOW', {
  $max: ['$$NOW', { $add: ['$lastTimestamp', spacingMs] }],
});

/**
 * Sets the score that platforms should have, in all rows of a learner's record.
 *
 * @param session is that of the transaction which writes the record, so that scores follow its order
 * @returns the number of changed rows.
 */
export async function wantScore(
  db: LtiScoreDb,
  learner: LtiLearner,
  wanted: WantedScore,
  session?: ClientSession,
): Promise<number> {
  const { organizationId, platformId, ltiUserId, lessonId, contextId } = learner;
  const { modifiedCount } = await db.ltiScores.updateMany(
    { organizationId, platformId, ltiUserId, lessonId, contextId },
    wantUpdate(wanted),
    { updatePipeline: true, session },
  );
  return modifiedCount;
}

function wantUpdate(wanted: WantedScore): PipelineStage.Set[] {
  const changed = { $not: [isSame('wanted', wanted)] };
  // The last attempt is the one that the platform accepted: nothing else may have reached it since.
  const accepted = { $and: [isSame('sent', wanted), { $eq: ['$sent.timestamp', '$lastTimestamp'] }] };
  // A waiting row keeps its backoff, because a new score does not repair the platform.
  const starts = { $and: [changed, { $ne: ['$state', 'waiting'] }] };
  const hasFailed = { $and: [changed, { $ne: ['$failure', null] }] };
  const failure = when(hasFailed, { $mergeObjects: ['$failure', { since: '$$NOW' }] }, '$failure');
  return [
    {
      $set: {
        wanted: literal(wanted),
        state: when(changed, when(accepted, 'idle', 'waiting'), '$state'),
        nextTryAt: when(starts, spaced, '$nextTryAt'),
        tries: when(starts, 0, '$tries'),
        // The new score gets the full retry time.
        failingSince: when(changed, null, '$failingSince'),
        failure: when(starts, null, failure),
      },
    },
    clearFailuresWhenIdle,
  ];
}

/**
 * Makes rows due now, in any state.
 *
 * @returns the number of rows with a score to send.
 */
export async function retryScores(db: LtiScoreDb, ids: readonly string[]): Promise<number> {
  const { matchedCount } = await db.ltiScores.updateMany(
    { _id: { $in: [...ids] }, wanted: { $ne: null } },
    [{ $set: { state: 'waiting', nextTryAt: spaced, ...noFailures } }],
    { updatePipeline: true },
  );
  return matchedCount;
}

/** Makes failed rows idle until their score changes, their learner launches again, or an operator resends them. */
export async function dismissScores(db: LtiScoreDb, ids: readonly string[]): Promise<void> {
  await dismissDeliveries(db.ltiScores, { _id: { $in: [...ids] }, state: 'failed' });
}

/** Makes the rows of a removed platform idle. */
export async function dismissScoresOf(db: LtiScoreDb, platformId: string): Promise<void> {
  await dismissDeliveries(db.ltiScores, { platformId, state: { $in: ['failed', 'waiting'] } });
}

/** A row that no other worker sends until its lease expires. */
export interface ClaimedScore extends LtiScore {
  wanted: WantedScore;
  lastTimestamp: Date;
  leaseId: string;
}

/**
 * Leases the row that has been due for longest, and sets a timestamp later than any before,
 * even if the clock was set back. Returns null when none is due, or another worker has it.
 */
export function claimScore(
  db: LtiScoreDb,
  which: Partial<Pick<LtiScore, '_id' | 'platformId'>>,
): Promise<ClaimedScore | null> {
  return claimDelivery<LtiScore, ClaimedScore>(db.ltiScores, which, {
    lastTimestamp: { $max: ['$$NOW', { $add: ['$lastTimestamp', spacingMs] }] },
    // The previous holder crashed during its attempt.
    perhapsTaken: when({ $ne: ['$leaseId', null] }, '$wanted.finishedAt', '$perhapsTaken'),
  });
}

/** The row as it is now; null when the lease was lost, and nothing changed. */
type Recorded = Promise<LtiScore | null>;

/** Records that the platform accepted the score. */
export function recordSent(
  db: LtiScoreDb,
  row: ClaimedScore,
  { lineItemUrl, response }: Pick<SentScore, 'lineItemUrl' | 'response'>,
): Recorded {
  const { scoreGiven, scoreMaximum, finishedAt } = row.wanted;
  const values = { scoreGiven, scoreMaximum, finishedAt };
  const sent: SentScore = { ...values, timestamp: row.lastTimestamp, at: new Date(), lineItemUrl, response };
  return endAttempt(db.ltiScores, row, {
    sent: literal(sent),
    state: endOf(values, 'idle'),
    nextTryAt: spaced,
    perhapsTaken: null,
    ...noFailures,
  });
}

/** Records a fault, and schedules a retry unless the row has failed for too long. */
export function recordRetry(
  db: LtiScoreDb,
  row: ClaimedScore,
  { failure, delayMs, maxFailingMs }: { failure: FailedAttempt; delayMs: number; maxFailingMs: MaxFailingMs },
  session?: ClientSession,
): Recorded {
  const failed = failedAttempt(failure);
  const state = when(isUnwanted, 'idle', when(hasFailedTooLong(failed, maxFailingMs), 'failed', 'waiting'));
  const changes = {
    state,
    nextTryAt: later(delayMs),
    ...failed.changes,
    // Without a response, or with a server error, the platform may have accepted the score.
    ...((failure.status === null || failure.status >= 500) && perhapsTaken(row)),
  };
  return endAttempt(db.ltiScores, row, changes, session);
}

/** Records a final rejection. A newer score is still sent. */
export function recordFailed(
  db: LtiScoreDb,
  row: ClaimedScore,
  failure: FailedAttempt,
  session?: ClientSession,
): Recorded {
  const state = endOf(row.wanted, 'failed');
  const changes = { state, nextTryAt: spaced, ...failedAttempt(failure).changes };
  return endAttempt(db.ltiScores, row, changes, session);
}

/** Records that there is no target for the score any more. A newer score is still sent. */
export function recordMoot(db: LtiScoreDb, row: ClaimedScore): Recorded {
  return endAttempt(db.ltiScores, row, { state: endOf(row.wanted, 'idle'), nextTryAt: spaced });
}

/** Ends an attempt that was aborted, and does not count. */
export function recordAborted(db: LtiScoreDb, row: ClaimedScore): Recorded {
  return endAttempt(db.ltiScores, row, { nextTryAt: '$$NOW', ...perhapsTaken(row) });
}

/** Ends an attempt that sent nothing, and does not count. */
export function recordBusy(db: LtiScoreDb, row: ClaimedScore, delayMs: number): Recorded {
  return endAttempt(db.ltiScores, row, { nextTryAt: later(delayMs) });
}

/** The link now leads to another lesson, whose record has no score yet. */
const isUnwanted: Expression = { $eq: ['$wanted', null] };

const perhapsTaken = ({ wanted }: ClaimedScore) => ({ perhapsTaken: wanted.finishedAt });

/** The state after the last attempt to send a score; another score may be wanted by now. */
function endOf(tried: ScoreValues, state: DeliveryState): Expression {
  return when(isUnwanted, 'idle', when(isSame('wanted', tried), state, 'waiting'));
}
