import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { deliveryFields, deliveryStates, findDueTargets, noFailures } from '../deliveries/outbox.ts';
import type { Delivery, DeliveryState } from '../deliveries/outbox.ts';
import { noLease } from '../platform/lease.ts';
import { schemaOptions, upsertSafely, uuidField } from '../platform/mongo.ts';
import type { LtiLearner } from './lti-progress.ts';

/** A score in the terms of Assignment and Grade Services 2.0: the points of a finished lesson. */
export interface ScoreValues {
  scoreGiven: number;
  scoreMaximum: number;
  /** When the scored attempt was finished, which identifies the learner's attempt. */
  finishedAt: Date;
}

/** The score that the platform should have: that of a learner's record as of a revision. */
export interface WantedScore extends ScoreValues {
  revision: number;
}

/** The last score that the platform accepted. */
export interface SentScore extends ScoreValues {
  /** The timestamp by which the platform orders scores. */
  timestamp: Date;
  at: Date;
  lineItemUrl: string;
  response: { status: number; body: string };
}

/**
 * The score of one learner in the line item of one resource link: a row of the outbox, created at the learner's launch.
 * All deciding times are MongoDB's, so that clocks of processes may differ.
 */
export interface LtiScore extends LtiLearner, Delivery {
  /** The id of the resource link. */
  linkId: string;
  /** Null until the learner has finished the lesson. */
  wanted: WantedScore | null;
  sent: SentScore | null;
  /** The timestamp of the last attempt, successful or not; the next attempt has a later one. */
  lastTimestamp: Date | null;
  /** `finishedAt` of a score that the platform may have accepted although its response was lost. */
  perhapsTaken: Date | null;
}

const subdocument = { _id: false, strict: 'throw', minimize: false } as const;

const valueFields = {
  scoreGiven: { type: Number, required: true },
  scoreMaximum: { type: Number, required: true },
  finishedAt: { type: Date, required: true },
} as const;

export interface LtiScoreDb {
  ltiScores: Model<LtiScore>;
}

export const ltiScoreSchema = new Schema<LtiScore>(
  {
    _id: uuidField,
    organizationId: { type: String, required: true },
    platformId: { type: String, required: true },
    linkId: { type: String, required: true },
    lessonId: { type: String, required: true },
    contextId: { type: String, default: null },
    ltiUserId: { type: String, required: true },
    wanted: {
      type: new Schema({ ...valueFields, revision: { type: Number, required: true } }, subdocument),
      default: null,
    },
    sent: {
      type: new Schema(
        {
          ...valueFields,
          timestamp: { type: Date, required: true },
          at: { type: Date, required: true },
          lineItemUrl: { type: String, required: true },
          response: { status: Number, body: String },
        },
        subdocument,
      ),
      default: null,
    },
    lastTimestamp: { type: Date, default: null },
    perhapsTaken: { type: Date, default: null },
    ...deliveryFields,
  },
  schemaOptions,
);
ltiScoreSchema.index({ linkId: 1, ltiUserId: 1 }, { unique: true });
ltiScoreSchema.index({ platformId: 1, ltiUserId: 1, lessonId: 1, contextId: 1 });
// For the rows of a user in all lessons.
ltiScoreSchema.index({ organizationId: 1, platformId: 1, ltiUserId: 1, _id: 1 });
ltiScoreSchema.index({ state: 1, platformId: 1, nextTryAt: 1 });
// For lists, newest first: a list of all states merges those of each state.
ltiScoreSchema.index({ state: 1, createdAt: -1, _id: 1 });
ltiScoreSchema.index({ organizationId: 1, state: 1, createdAt: -1, _id: 1 });
ltiScoreSchema.index({ platformId: 1, state: 1, createdAt: -1, _id: 1 });

/** Returns the row of a learner in a link, created if missing. */
export function findOrCreateScore(
  db: LtiScoreDb,
  { linkId, ltiUserId, ...learner }: LtiLearner & Pick<LtiScore, 'linkId'>,
): Promise<LtiScore> {
  const { organizationId, platformId, lessonId, contextId } = learner;
  const now = new Date();
  const none = { wanted: null, sent: null, lastTimestamp: null, perhapsTaken: null, ...noFailures };
  return upsertSafely(() =>
    db.ltiScores
      .findOneAndUpdate(
        { linkId, ltiUserId },
        {
          $setOnInsert: {
            _id: randomUUID(),
            ...{ organizationId, platformId, lessonId, contextId },
            ...none,
            ...{ state: 'idle', nextTryAt: now, createdAt: now, ...noLease },
          },
        },
        { upsert: true, returnDocument: 'after' },
      )
      .lean<LtiScore>()
      .exec(),
  );
}

/**
 * Connects a row to another record of its learner, because the link now leads to another lesson, or is in another
 * context.
 */
export async function followOtherRecord(
  db: LtiScoreDb,
  id: string,
  { lessonId, contextId }: Pick<LtiScore, 'lessonId' | 'contextId'>,
): Promise<void> {
  const none = { wanted: null, state: 'idle', ...noFailures };
  await db.ltiScores.updateOne({ _id: id }, { $set: { lessonId, contextId, ...none } });
}

/** Returns the numbers of waiting and failed rows, and since when the oldest is due; null if none is. */
export async function countScores(
  db: LtiScoreDb,
): Promise<{ waiting: number; failed: number; dueSince: Date | null }> {
  const [waiting, failed, [first]] = await Promise.all([
    db.ltiScores.countDocuments({ state: 'waiting' }).exec(),
    db.ltiScores.countDocuments({ state: 'failed' }).exec(),
    findDueTargets(db.ltiScores, 'platformId'),
  ]);
  return { waiting, failed, dueSince: first?.dueSince ?? null };
}

/** Returns the numbers of scores that platforms have not taken, by state and reason of the last failure. */
export function countFailures(
  db: LtiScoreDb,
): Promise<{ state: DeliveryState; reason: string; count: number }[]> {
  return db.ltiScores
    .aggregate<{ state: DeliveryState; reason: string; count: number }>([
      { $match: { state: { $in: ['waiting', 'failed'] }, failure: { $ne: null } } },
      { $group: { _id: { state: '$state', reason: '$failure.reason' }, count: { $sum: 1 } } },
      { $sort: { _id: 1 } },
      { $project: { _id: 0, state: '$_id.state', reason: '$_id.reason', count: 1 } },
    ])
    .exec();
}

/** Selects rows of the outbox: all, or those of an organization, a platform or a state. */
export interface ScoreSelection {
  organizationId?: string | undefined;
  platformId?: string | undefined;
  state?: DeliveryState | undefined;
  lessonId?: string | undefined;
  ltiUserId?: string | undefined;
  /** Whether the platform ever accepted a score. */
  isSent?: boolean | undefined;
}

/**
 * Returns rows of the outbox, newest first.
 *
 * @param options.before the last row of the previous page.
 */
export function listScores(
  db: LtiScoreDb,
  selection: ScoreSelection,
  { before, limit }: { before?: Pick<LtiScore, '_id' | 'createdAt'> | undefined; limit: number },
): Promise<LtiScore[]> {
  const { organizationId, platformId, state, lessonId, ltiUserId, isSent } = selection;
  const ofOrganization = organizationId === undefined ? {} : { organizationId: 1 as const };
  const prefix = platformId === undefined ? ofOrganization : { platformId: 1 as const };
  return (
    db.ltiScores
      .find({
        ...(organizationId !== undefined && { organizationId }),
        ...(platformId !== undefined && { platformId }),
        state: state ?? { $in: [...deliveryStates] },
        ...(lessonId !== undefined && { lessonId }),
        ...(ltiUserId !== undefined && { ltiUserId }),
        ...(isSent !== undefined && { sent: isSent ? { $ne: null } : null }),
        ...(before !== undefined && {
          createdAt: { $lte: before.createdAt },
          $or: [
            { createdAt: { $lt: before.createdAt } },
            { createdAt: before.createdAt, _id: { $gt: before._id } },
          ],
        }),
      })
      .sort({ createdAt: -1, _id: 1 })
      // MongoDB may otherwise sort a few rows in memory, and keep that plan for many.
      .hint({ ...prefix, state: 1, createdAt: -1, _id: 1 })
      .limit(limit)
      .lean<LtiScore[]>()
      .exec()
  );
}

/** Returns the existing rows with these ids, unordered. */
export function findScoresById(db: LtiScoreDb, ids: readonly string[]): Promise<LtiScore[]> {
  return db.ltiScores
    .find({ _id: { $in: [...ids] } })
    .lean<LtiScore[]>()
    .exec();
}

/** Returns how many grades of a user a platform has accepted. */
export function countSentScores(
  db: LtiScoreDb,
  { organizationId, platformId, ltiUserId }: Pick<LtiScore, 'organizationId' | 'platformId' | 'ltiUserId'>,
): Promise<number> {
  return db.ltiScores.countDocuments({ organizationId, platformId, ltiUserId, sent: { $ne: null } }).exec();
}
