import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { ClientSession, Model, PipelineStage, QueryFilter } from 'mongoose';
import { isUnleased, leaseFields, newLease, noLease } from '../platform/lease.ts';
import type { Leased } from '../platform/lease.ts';

/*
 * An outbox in MongoDB: a row for each thing to deliver, written before anything is sent, so a crash loses none. A
 * worker claims a row with a lease, attempts delivery, and records the end of the attempt. Each
 * second, a sweep finds the rows that are due. Delivery is at least once. Each function is one atomic write, so a
 * process may crash between any two. A delivery format (worker/deliveries) decides what is sent and where.
 *
 *     claim:              waiting, with a lease
 *     end of an attempt:  -> idle     delivered, or no target any more
 *                         -> waiting  retry with backoff
 *                         -> failed   a final rejection, or failing for too long
 *     resend:             -> waiting
 *     dismiss:            -> idle
 */

/** `waiting` for delivery, `failed` until something changes, or `idle`, which has {@link noFailures}. */
export const deliveryStates = ['idle', 'waiting', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Why the last attempt failed. The status is null when there was no response. */
export interface DeliveryFailure {
  at: Date;
  /** The first of the consecutive attempts that failed for this reason, with the present content. */
  since: Date;
  reason: string;
  status: number | null;
  body: string | null;
}

/** The fields that rows of every format have. Decisions use MongoDB's clock, so processes' clocks need not agree. */
export interface Delivery extends Leased {
  _id: string;
  state: DeliveryState;
  /** Failed attempts since the last delivery. */
  tries: number;
  nextTryAt: Date;
  /** When the present content first failed; null if it has not. */
  failingSince: Date | null;
  failure: DeliveryFailure | null;
  createdAt: Date;
}

/** The failure fields of a row without a failed attempt. */
export const noFailures = { tries: 0, failingSince: null, failure: null } as const;

/** The schema fields, except `_id`. */
export const deliveryFields = {
  state: { type: String, required: true, enum: deliveryStates },
  tries: { type: Number, default: 0 },
  nextTryAt: { type: Date, required: true },
  failingSince: { type: Date, default: null },
  failure: {
    type: new Schema(
      { at: Date, since: Date, reason: String, status: Number, body: String },
      { _id: false, strict: 'throw', minimize: false },
    ),
    default: null,
  },
  ...leaseFields,
  createdAt: { type: Date, required: true },
} as const;

/** The time limit of an attempt. */
export const attemptTimeoutMs = 45_000;

/** Longer than an attempt: a worker that holds a row for this long has crashed, so another one may claim the row. */
export const leaseMs = 60_000;

const maxTargets = 10_000;

/** An expression of an update pipeline. */
export type Expression = Record<string, unknown> | string;

export const literal = (value: unknown): Expression => ({ $literal: value });
export const when = (condition: Expression, then: unknown, otherwise: unknown): Expression => ({
  $cond: [condition, then, otherwise],
});
export const later = (delayMs: number): Expression => ({ $add: ['$$NOW', delayMs] });

/** The last stage of every change: an idle row has no failures. */
export const clearFailuresWhenIdle: PipelineStage.Set = {
  $set: Object.fromEntries(
    Object.entries(noFailures).map(([field, nothing]) => [
      field,
      when({ $eq: ['$state', 'idle'] }, nothing, `$${field}`),
    ]),
  ),
};

/** By MongoDB's clock, so that those of processes need not agree. */
export const isDue: Expression = { $and: [{ $lte: ['$nextTryAt', '$$NOW'] }, isUnleased] };

/**
 * Leases the row that matches a filter and has been due the longest.
 *
 * @param changes the format's own changes.
 * @returns null when none is due, or another worker has it.
 */
export function claimDelivery<Row extends Delivery, Claimed extends Row>(
  rows: Model<Row>,
  which: QueryFilter<Row>,
  changes: object = {},
): Promise<Claimed | null> {
  return rows
    .findOneAndUpdate(
      { ...which, state: 'waiting', $expr: isDue },
      [{ $set: { ...newLease(randomUUID(), leaseMs), ...changes } }],
      { updatePipeline: true, returnDocument: 'after', sort: { nextTryAt: 1 } },
    )
    .lean<Claimed>()
    .exec();
}

/**
 * Leases and returns the given rows that are due and that no other worker has leased.
 *
 * @param changes the format's own changes.
 */
export async function leaseDeliveries<Row extends Delivery, Claimed extends Row>(
  rows: Model<Row>,
  ids: readonly string[],
  changes: object,
): Promise<Claimed[]> {
  if (ids.length === 0) return [];
  const leaseId = randomUUID();
  await rows.updateMany(
    { _id: { $in: [...ids] }, state: 'waiting', $expr: isDue } as QueryFilter<Row>,
    [{ $set: { ...newLease(leaseId, leaseMs), ...changes } }],
    { updatePipeline: true },
  );
  return rows
    .find({ _id: { $in: [...ids] }, leaseId } as QueryFilter<Row>)
    .lean<Claimed[]>()
    .exec();
}

/**
 * Records the end of an attempt, and releases the lease.
 *
 * @returns the row as it is now; null when the lease was lost, and nothing changed.
 */
export function endAttempt<Row extends Delivery>(
  rows: Model<Row>,
  { _id, leaseId }: Pick<Row, '_id' | 'leaseId'>,
  changes: object,
  session?: ClientSession,
): Promise<Row | null> {
  return rows
    .findOneAndUpdate(
      { _id, leaseId } as QueryFilter<Row>,
      [{ $set: { ...noLease, ...changes } }, clearFailuresWhenIdle],
      { updatePipeline: true, returnDocument: 'after', session },
    )
    .lean<Row>()
    .exec();
}

/** A failure without `since`, which depends on the row's earlier failures. */
export type FailedAttempt = Omit<DeliveryFailure, 'since'>;

/** How long Lectern retries a failing row, in milliseconds: in all, and while the reason stays the same. */
export interface MaxFailingMs {
  inAll: number;
  sameReason: number;
}

/** Returns the changes that record a failed attempt. */
export function failedAttempt(failure: FailedAttempt) {
  const since = when({ $eq: ['$failure.reason', literal(failure.reason)] }, '$failure.since', '$$NOW');
  return {
    since,
    changes: {
      tries: { $add: ['$tries', 1] },
      failingSince: { $ifNull: ['$failingSince', '$$NOW'] },
      failure: { $mergeObjects: [literal(failure), { since }] },
    },
  };
}

/** Returns an expression that is true if the row has been failing for longer than its limits. */
export function hasFailedTooLong(
  { since, changes: { failingSince } }: ReturnType<typeof failedAttempt>,
  { inAll, sameReason }: MaxFailingMs,
): Expression {
  const passed = (start: unknown, ms: number) => ({
    $gte: [{ $subtract: ['$$NOW', start] }, ms],
  });
  return { $or: [passed(failingSince, inAll), passed(since, sameReason)] };
}

/** Makes rows idle until their content changes or an operator resends them. */
export async function dismissDeliveries<Row extends Delivery>(
  rows: Model<Row>,
  which: QueryFilter<Row>,
): Promise<void> {
  await rows.updateMany(which, [{ $set: { state: 'idle' } }, clearFailuresWhenIdle], {
    updatePipeline: true,
  });
}

/** A target with rows that are due. */
export interface DueTarget {
  target: string;
  dueSince: Date;
  /** The owner of the slots that its deliveries use. */
  owner: string;
}

/**
 * Returns the targets that have rows whose next attempt is due, and since when, the longest wait first. Rows that are
 * being sent count. With an index on state, target, nextTryAt and owner, MongoDB reads one entry for each target.
 *
 * @param target the field that identifies the target.
 * @param options.owner the field of the owner; by default, each target is its own.
 * @param options.which selects rows; the index must begin with its fields.
 */
export function findDueTargets<Row extends Delivery>(
  rows: Model<Row>,
  target: string,
  { owner = target, which = {} }: { owner?: string; which?: QueryFilter<Row> } = {},
): Promise<DueTarget[]> {
  return rows
    .aggregate<DueTarget>([
      { $match: { ...which, state: 'waiting' } },
      { $sort: { [target]: 1, nextTryAt: 1 } },
      {
        $group: {
          _id: `$${target}`,
          dueSince: { $first: '$nextTryAt' },
          owner: { $first: `$${owner}` },
        },
      },
      { $match: { $expr: { $lte: ['$dueSince', '$$NOW'] } } },
      { $sort: { dueSince: 1 } },
      { $limit: maxTargets },
      { $project: { _id: 0, target: '$_id', dueSince: 1, owner: 1 } },
    ])
    .exec();
}
