import { randomUUID } from 'node:crypto';
import type { PipelineStage } from 'mongoose';
import type { Database } from './database.ts';
import type { LtiLearner } from './lti-progress.ts';
import type { LtiScore, ScoreFailure, ScoreValues, SentScore, WantedScore } from './lti-score.ts';

/**
 * How rows of the outbox change: each function is one atomic write, so that a process may end between any two.
 *
 *     wanted changes:   idle, failed -> waiting (idle where the platform has just this)
 *     claim:            waiting, with a lease and the timestamp of the try
 *     asked for again:  -> waiting
 *     end of the try:   -> idle, or waiting where something else is wanted by now
 *                       -> waiting, later, or failed where it has been failing for too long
 *                       -> failed, or waiting where something else is wanted by now
 */

/** Longer than any try takes. Whoever holds a row for longer than this has ended, and the row is another's. */
export const leaseMilliseconds = 60_000;

/** What may pass is tried for this long. */
export const patienceMilliseconds = 7 * 24 * 3600_000;

/** Some platforms, Moodle among them, compare timestamps by the second, and refuse or drop what is not later. */
const spacingMilliseconds = 1000;

type Expression = Record<string, unknown> | string;
type Update = [PipelineStage.Set];

const valueFields = ['activityProgress', 'gradingProgress', 'scoreGiven', 'scoreMaximum'] as const;

function isSame(field: 'wanted' | 'sent', values: ScoreValues): Expression {
  return { $and: valueFields.map((name) => ({ $eq: [`$${field}.${name}`, { $literal: values[name] }] })) };
}

const literal = (value: unknown): Expression => ({ $literal: value });
const when = (condition: Expression, then: unknown, otherwise: unknown): Expression => ({
  $cond: [condition, then, otherwise],
});
const later = (milliseconds: number): Expression => ({ $add: ['$$NOW', milliseconds] });

/** When the next timestamp may follow the last one. Where that one is ahead of the clock, waiting is no use. */
const spaced = when({ $gt: ['$lastTimestamp', '$$NOW'] }, '$$NOW', {
  $max: ['$$NOW', { $add: ['$lastTimestamp', spacingMilliseconds] }],
});

/**
 * Tells all rows of a learner's record what the platform should have. A row that knows of a later revision stays.
 *
 * @returns how many rows changed.
 */
export async function wantScore(db: Database, learner: LtiLearner, wanted: WantedScore): Promise<number> {
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

function wantUpdate(wanted: WantedScore): Update {
  const same = isSame('wanted', wanted);
  // The last try that began is the one that was taken: nothing else may have reached the platform since.
  const held = { $and: [isSame('sent', wanted), { $eq: ['$sent.timestamp', '$lastTimestamp'] }] };
  // What waits already keeps its pace: a platform that is down does not come back for a new score.
  const starts = { $and: [{ $not: [same] }, { $ne: ['$state', 'waiting'] }] };
  return [
    {
      $set: {
        wanted: literal(wanted),
        state: when(same, '$state', when(held, 'idle', 'waiting')),
        nextTryAt: when(starts, spaced, '$nextTryAt'),
        tries: when(starts, 0, '$tries'),
        failingSince: when(starts, null, '$failingSince'),
      },
    },
  ];
}

/**
 * Has rows sent at once, whatever became of them before.
 *
 * @returns how many there are that have something to send.
 */
export async function sendAgain(db: Database, ids: readonly string[]): Promise<number> {
  const { matchedCount } = await db.ltiScores.updateMany(
    { _id: { $in: [...ids] }, wanted: { $ne: null } },
    [{ $set: { state: 'waiting', nextTryAt: spaced, tries: 0, failingSince: null } }],
    { updatePipeline: true },
  );
  return matchedCount;
}

/** A row that nobody else sends until its lease ends. */
export interface ClaimedScore extends LtiScore {
  wanted: WantedScore;
  lastTimestamp: Date;
  leaseId: string;
}

const due: Expression = {
  $and: [{ $lte: ['$nextTryAt', '$$NOW'] }, { $lte: [{ $ifNull: ['$leaseUntil', '$$NOW'] }, '$$NOW'] }],
};

/**
 * Takes a row, or the one that has been due for longest: its lease, and a timestamp later than any before, whatever
 * the clock says. Null when there is none, it is not due, or somebody else sends it.
 *
 * @param without platforms that are not to be asked now.
 */
export function claimScore(
  db: Database,
  { id, without = [] }: { id?: string; without?: readonly string[] },
): Promise<ClaimedScore | null> {
  return db.ltiScores
    .findOneAndUpdate(
      {
        state: 'waiting',
        ...(id !== undefined && { _id: id }),
        ...(without.length > 0 && { platformId: { $nin: [...without] } }),
        $expr: due,
      },
      [
        {
          $set: {
            leaseId: randomUUID(),
            leaseUntil: later(leaseMilliseconds),
            lastTimestamp: { $max: ['$$NOW', { $add: ['$lastTimestamp', spacingMilliseconds] }] },
          },
        },
      ],
      { updatePipeline: true, sort: { nextTryAt: 1 }, returnDocument: 'after' },
    )
    .lean<ClaimedScore>()
    .exec();
}

const unleased = { leaseId: null, leaseUntil: null };

/** Ends a try: the platform took the score. False when the lease was lost, and nothing changed. */
export function endAsSent(
  db: Database,
  row: ClaimedScore,
  { lineItemUrl, response }: Pick<SentScore, 'lineItemUrl' | 'response'>,
): Promise<boolean> {
  const { activityProgress, gradingProgress, scoreGiven, scoreMaximum } = row.wanted;
  const values = { activityProgress, gradingProgress, scoreGiven, scoreMaximum };
  const sent: SentScore = { ...values, timestamp: row.lastTimestamp, at: new Date(), lineItemUrl, response };
  const settled = { $or: [isSame('wanted', values), { $eq: ['$wanted', null] }] };
  return end(db, row, {
    sent: literal(sent),
    state: when(settled, 'idle', 'waiting'),
    nextTryAt: spaced,
    tries: 0,
    failingSince: null,
    failure: null,
  });
}

/** Ends a try that failed with what may pass. As {@link endAsSent}. */
export function endToTryAgain(
  db: Database,
  row: ClaimedScore,
  { failure, milliseconds, patience }: { failure: ScoreFailure; milliseconds: number; patience: number },
): Promise<boolean> {
  const since = { $ifNull: ['$failingSince', '$$NOW'] };
  const tooLong = { $gte: [{ $subtract: ['$$NOW', since] }, patience] };
  return end(db, row, {
    state: when({ $eq: ['$wanted', null] }, 'idle', when(tooLong, 'failed', 'waiting')),
    nextTryAt: later(milliseconds),
    tries: { $add: ['$tries', 1] },
    failingSince: since,
    failure: literal(failure),
  });
}

/** Ends a try that failed for good: what is wanted since then is tried all the same. As {@link endAsSent}. */
export function endAsFailed(db: Database, row: ClaimedScore, failure: ScoreFailure): Promise<boolean> {
  const state = when(
    { $eq: ['$wanted', null] },
    'idle',
    when(isSame('wanted', row.wanted), 'failed', 'waiting'),
  );
  return end(db, row, {
    state,
    nextTryAt: spaced,
    tries: { $add: ['$tries', 1] },
    failingSince: { $ifNull: ['$failingSince', '$$NOW'] },
    failure: literal(failure),
  });
}

/** Ends a try that did not come to anything, and counts for nothing. As {@link endAsSent}. */
export function giveBackScore(db: Database, row: ClaimedScore, milliseconds: number): Promise<boolean> {
  return end(db, row, { nextTryAt: later(milliseconds) });
}

async function end(db: Database, { _id, leaseId }: ClaimedScore, changes: object): Promise<boolean> {
  const update: Update = [{ $set: { ...unleased, ...changes } }];
  const { matchedCount } = await db.ltiScores.updateOne({ _id, leaseId }, update, { updatePipeline: true });
  return matchedCount === 1;
}
