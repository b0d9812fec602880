import { Schema } from 'mongoose';
import type { ClientSession, Model } from 'mongoose';
import {
  claimDelivery,
  deliveryFields,
  endAttempt,
  failedAttempt,
  findDueTargets,
  isDue,
  later,
  leaseMs,
  literal,
  noFailures,
  when,
} from '../deliveries/outbox.ts';
import type { Delivery, DueTarget, Expression, FailedAttempt } from '../deliveries/outbox.ts';
import { isDuplicatesOnly, schemaOptions } from '../platform/mongo.ts';
import { noLease } from '../platform/lease.ts';

/** The kinds of target that events are delivered to. */
export const eventKinds = ['webhook', 'xapi'] as const;
export type EventKind = (typeof eventKinds)[number];

/**
 * The kinds of rows that workers replace by rows to send: a write by the statements about it, an update by the
 * `progress.updated` with what the record contains then. No list shows them.
 */
export const sourceKinds = ['write', 'update'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** One attempt to send an event, as its owner sees it. */
export interface DeliveryAttempt {
  at: Date;
  milliseconds: number;
  /** The status of the response; null without one. */
  status: number | null;
  /** Why it failed; null after a success. */
  error: string | null;
  /** The beginning of the response; null without one. */
  response: string | null;
}

/** An event for one target: a row of the outbox. */
export interface EventDelivery extends Delivery {
  kind: EventKind | SourceKind;
  organizationId: string;
  /** The id of the webhook or the destination; of the organization for a write or an update. */
  targetId: string;
  /** The type of the event. */
  type: string;
  lessonId: string | null;
  /** A `learnerId`, or an `ltiUserId` of `platformId`. */
  learnerId: string | null;
  platformId: string | null;
  /** When the event occurred. */
  eventAt: Date;
  /** The JSON text to send. */
  body: string;
  /** The last attempts, the oldest first. */
  attempts: DeliveryAttempt[];
  deliveredAt: Date | null;
  /** The time at which MongoDB deletes the row; null while the row waits. */
  expiresAt: Date | null;
}

export interface EventDeliveryDb {
  eventDeliveries: Model<EventDelivery>;
}

export const eventDeliverySchema = new Schema<EventDelivery>(
  {
    _id: { type: String, required: true },
    kind: { type: String, required: true, enum: [...eventKinds, ...sourceKinds] },
    organizationId: { type: String, required: true },
    targetId: { type: String, required: true },
    type: { type: String, required: true },
    lessonId: { type: String, default: null },
    learnerId: { type: String, default: null },
    platformId: { type: String, default: null },
    eventAt: { type: Date, required: true },
    body: { type: String, required: true },
    attempts: {
      type: [
        new Schema(
          { at: Date, milliseconds: Number, status: Number, error: String, response: String },
          { _id: false, strict: 'throw', minimize: false },
        ),
      ],
      default: [],
    },
    deliveredAt: { type: Date, default: null },
    expiresAt: { type: Date, default: null },
    ...deliveryFields,
  },
  schemaOptions,
);
// The organization is in it so that finding due targets reads no documents.
eventDeliverySchema.index({ kind: 1, state: 1, targetId: 1, nextTryAt: 1, organizationId: 1 });
eventDeliverySchema.index({ targetId: 1, createdAt: -1, _id: 1 });
eventDeliverySchema.index({ organizationId: 1, state: 1, createdAt: -1, _id: 1 });
eventDeliverySchema.index({ organizationId: 1, createdAt: -1, _id: 1 });
eventDeliverySchema.index({ organizationId: 1, lessonId: 1, createdAt: -1, _id: 1 });
eventDeliverySchema.index({ organizationId: 1, learnerId: 1, createdAt: -1, _id: 1 });
eventDeliverySchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const maxAttempts = 20;
const dayMs = 24 * 3600_000;

/** How long rows are kept for lists and for sending them again. */
export const keptMs = { delivered: 7 * dayMs, failed: 30 * dayMs };

/** A row before it is stored: due now unless it has a time. */
export type NewDelivery = Omit<EventDelivery, keyof Delivery | 'attempts' | 'deliveredAt' | 'expiresAt'> &
  Pick<EventDelivery, '_id'> &
  Partial<Pick<EventDelivery, 'nextTryAt'>>;

/**
 * Adds rows to the outbox. Rows that exist stay as they are.
 *
 * @param session adds them in its transaction, which a row that exists aborts.
 */
export async function insertDeliveries(
  db: EventDeliveryDb,
  rows: readonly NewDelivery[],
  session?: ClientSession,
): Promise<void> {
  if (rows.length === 0) return;
  const now = new Date();
  const defaults = {
    ...{ state: 'waiting' as const, nextTryAt: now, createdAt: now },
    ...{ attempts: [], deliveredAt: null, expiresAt: null, ...noFailures, ...noLease },
  };
  try {
    await db.eventDeliveries.collection.insertMany(
      rows.map((row) => ({ ...defaults, ...row })) as never,
      session === undefined ? { ordered: false } : { session },
    );
  } catch (error) {
    // Every other row is stored.
    if (session !== undefined || !isDuplicatesOnly(error)) throw error;
  }
}

/** A row that no other worker sends until its lease expires. */
export interface ClaimedDelivery extends EventDelivery {
  leaseId: string;
}

export function claimEventDelivery(
  db: EventDeliveryDb,
  kind: EventDelivery['kind'],
  targetId: string,
): Promise<ClaimedDelivery | null> {
  return claimDelivery<EventDelivery, ClaimedDelivery>(db.eventDeliveries, { kind, targetId }, dueAfterLease);
}

/** Returns the targets of a kind with rows that are due; see {@link findDueTargets}. */
export function findDueEventTargets(db: EventDeliveryDb, kind: EventDelivery['kind']): Promise<DueTarget[]> {
  return findDueTargets(db.eventDeliveries, 'targetId', { owner: 'organizationId', which: { kind } });
}

/** Spares other claims skipping the row. */
const dueAfterLease = { nextTryAt: later(leaseMs) };

/** The outcome of an attempt: delivered, no longer any target, a retry later, or no retry. */
export type AttemptEnd =
  | { to: 'delivered' }
  | { to: 'dismissed' }
  | { to: 'waiting'; delayMs: number; failure: FailedAttempt }
  | { to: 'failed'; failure: FailedAttempt };

/**
 * Records the end of an attempt.
 *
 * @param attempt null if nothing was sent.
 * @returns the row as it is now; null when the lease was lost, and nothing changed.
 */
export function endEventAttempt(
  db: EventDeliveryDb,
  row: ClaimedDelivery,
  end: AttemptEnd,
  attempt: DeliveryAttempt | null,
): Promise<EventDelivery | null> {
  return endAttempt(db.eventDeliveries, row, {
    ...(attempt !== null && {
      attempts: { $slice: [{ $concatArrays: [shortened, [literal(attempt)]] }, -maxAttempts] },
    }),
    ...changesOf(end),
    ...(row.type === 'learner.erased' && end.to === 'delivered' && withoutLearner),
  });
}

/** A report of an erasure names the learner, so its content is removed once it is delivered. */
const withoutLearner = { body: '', attempts: [] };

/** Earlier responses are shortened. Otherwise a hostile receiver could fill a row with 80 kB. */
const keptCharacters = 256;

/** Earlier attempts, each with a short response. */
const shortened: Expression = {
  $map: {
    input: '$attempts',
    as: 'one',
    in: {
      $mergeObjects: [
        '$$one',
        {
          response: when({ $eq: ['$$one.response', null] }, null, {
            $substrCP: ['$$one.response', 0, keptCharacters],
          }),
        },
      ],
    },
  },
};

function changesOf(end: AttemptEnd) {
  switch (end.to) {
    case 'delivered':
      return { state: 'idle', deliveredAt: '$$NOW', expiresAt: later(keptMs.delivered) };
    case 'dismissed':
      return { state: 'idle', expiresAt: later(keptMs.delivered) };
    case 'waiting':
      return { nextTryAt: later(end.delayMs), ...failedAttempt(end.failure).changes };
    case 'failed':
      return { state: 'failed', expiresAt: later(keptMs.failed), ...failedAttempt(end.failure).changes };
  }
}

/** Ends claims without an attempt that counts: an interrupted delivery may have arrived. */
export async function releaseEventDeliveries(
  db: EventDeliveryDb,
  rows: readonly ClaimedDelivery[],
  delayMs: number,
): Promise<void> {
  if (rows.length === 0) return;
  const of = (field: '_id' | 'leaseId') => ({ $in: [...new Set(rows.map((row) => row[field]))] });
  await db.eventDeliveries.updateMany(
    { _id: of('_id'), leaseId: of('leaseId') },
    [{ $set: { ...noLease, nextTryAt: later(delayMs) } }],
    { updatePipeline: true },
  );
}

/**
 * Makes failed rows of a target wait again, if the target rejected them after a given time. Resuming the target makes
 * them due.
 */
export async function waitAgain(
  db: EventDeliveryDb,
  targetId: string,
  since: Date,
  delayMs: number,
): Promise<void> {
  await db.eventDeliveries.updateMany(
    { kind: 'xapi', state: 'failed', targetId, 'failure.reason': 'rejected', 'failure.at': { $gte: since } },
    [{ $set: { state: 'waiting', nextTryAt: later(delayMs), expiresAt: null } }],
    { updatePipeline: true },
  );
}

/** Postpones a target's due rows, except those that a worker is sending. */
export async function postponeDue(
  db: EventDeliveryDb,
  { kind, targetId }: Pick<EventDelivery, 'kind' | 'targetId'>,
  delayMs: number,
): Promise<void> {
  await db.eventDeliveries.updateMany(
    { kind, state: 'waiting', targetId, $expr: isDue },
    [{ $set: { nextTryAt: later(delayMs) } }],
    { updatePipeline: true },
  );
}

/** Deletes all rows of a target that is gone. */
export async function deleteDeliveriesTo(db: EventDeliveryDb, targetId: string): Promise<void> {
  await db.eventDeliveries.deleteMany({ targetId });
}
