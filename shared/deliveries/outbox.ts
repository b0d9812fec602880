import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model, PipelineStage, QueryFilter } from 'mongoose';
import { isUnleased, leaseFields, newLease, noLease } from '../platform/lease.ts';
import type { Leased } from '../platform/lease.ts';

/*
 * An outbox in MongoDB: a row for each thing to deliver, which is there before anything is sent, so a crash loses none.
 * Workers claim a row with a lease, try to deliver it, and end the try. Queue jobs only reduce latency: a sweep finds
 * every row that is due. Delivery is at least once. Each function is one atomic write, so a process may end between
 * any two. What is sent, and where, belongs to the format: grades today.
 *
 *     claim:         waiting, with a lease
 *     end of a try:  -> idle     delivered, or nowhere to deliver it to
 *                    -> waiting  later, with backoff
 *                    -> failed   for good, or failing for too long
 *     resend:        -> waiting
 *     dismissed:     -> idle
 */

/** `waiting` to be delivered, `failed` until something changes, else `idle`; that has {@link noFailures}. */
export const deliveryStates = ['idle', 'waiting', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Why the last try failed. The status is null where there was no response. */
export interface DeliveryFailure {
  at: Date;
  /** When a try failed for this reason first, since it failed for another, or did not, or the content changed. */
  since: Date;
  reason: string;
  status: number | null;
  body: string | null;
}

/** The fields that rows of every format have. All times that decide anything are MongoDB's. */
export interface Delivery extends Leased {
  _id: string;
  state: DeliveryState;
  /** Failed tries since the last delivery. */
  tries: number;
  nextTryAt: Date;
  /** When the first of them failed that was to deliver the present content. */
  failingSince: Date | null;
  failure: DeliveryFailure | null;
  createdAt: Date;
}

/** The failure fields of a row where no try has failed. */
export const noFailures = { tries: 0, failingSince: null, failure: null } as const;

/** The fields in a schema, but for `_id`. */
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

/** How long a try may take. */
export const tryMilliseconds = 45_000;

/** A worker that holds a row for longer than this has ended, and another one may claim the row. */
const leaseMilliseconds = 60_000;

const mostTargets = 10_000;

/** An expression of an update pipeline. */
export type Expression = Record<string, unknown> | string;

export const literal = (value: unknown): Expression => ({ $literal: value });
export const when = (condition: Expression, then: unknown, otherwise: unknown): Expression => ({
  $cond: [condition, then, otherwise],
});
export const later = (milliseconds: number): Expression => ({ $add: ['$$NOW', milliseconds] });

/** The last stage of every change: a row with nothing to deliver has no failures. */
export const forgetsWhenIdle: PipelineStage.Set = {
  $set: Object.fromEntries(
    Object.entries(noFailures).map(([field, nothing]) => [
      field,
      when({ $eq: ['$state', 'idle'] }, nothing, `$${field}`),
    ]),
  ),
};

const isDue: Expression = { $and: [{ $lte: ['$nextTryAt', '$$NOW'] }, isUnleased] };

/**
 * Claims the row that has been due for longest among those of a filter.
 *
 * @param changes what the format adds to the claim.
 * @returns null when there is none, none is due, or another worker has it.
 */
export function claimDelivery<Row extends Delivery, Claimed extends Row>(
  rows: Model<Row>,
  which: QueryFilter<Row>,
  changes: object = {},
): Promise<Claimed | null> {
  return rows
    .findOneAndUpdate(
      { ...which, state: 'waiting', $expr: isDue },
      [{ $set: { ...newLease(randomUUID(), leaseMilliseconds), ...changes } }],
      { updatePipeline: true, sort: { nextTryAt: 1 }, returnDocument: 'after' },
    )
    .lean<Claimed>()
    .exec();
}

/**
 * Ends a try and the lease.
 *
 * @returns the row as it is now; null when the lease was lost, and nothing changed.
 */
export function endTry<Row extends Delivery>(
  rows: Model<Row>,
  { _id, leaseId }: Pick<Row, '_id' | 'leaseId'>,
  changes: object,
): Promise<Row | null> {
  return rows
    .findOneAndUpdate(
      { _id, leaseId } as QueryFilter<Row>,
      [{ $set: { ...noLease, ...changes } }, forgetsWhenIdle],
      { updatePipeline: true, returnDocument: 'after' },
    )
    .lean<Row>()
    .exec();
}

/** Returns the changes that record a failed try. */
export function failedTry(failure: Omit<DeliveryFailure, 'since'>) {
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

/**
 * Returns an expression: the row has been failing for longer than a retry policy allows.
 *
 * @param policy how long a row may fail before that is final: at all, and for the same reason; in milliseconds.
 */
export function hasFailedTooLong(
  { since, changes: { failingSince } }: ReturnType<typeof failedTry>,
  policy: { atAll: number; sameReason: number },
): Expression {
  const passed = (start: unknown, milliseconds: number) => ({
    $gte: [{ $subtract: ['$$NOW', start] }, milliseconds],
  });
  return { $or: [passed(failingSince, policy.atAll), passed(since, policy.sameReason)] };
}

/** Makes rows idle until their content changes or they are sent again. */
export async function dismissDeliveries<Row extends Delivery>(
  rows: Model<Row>,
  which: QueryFilter<Row>,
): Promise<void> {
  await rows.updateMany(which, [{ $set: { state: 'idle' } }, forgetsWhenIdle], { updatePipeline: true });
}

/**
 * Returns the targets that have rows whose next try is due, and since when, the longest wait first. Rows that are
 * being sent count. With an index on state, target and nextTryAt this reads one entry for each target.
 *
 * @param target the field that names the receiver.
 */
export function findDueTargets<Row extends Delivery>(
  rows: Model<Row>,
  target: string,
): Promise<{ target: string; dueSince: Date }[]> {
  return rows
    .aggregate<{ target: string; dueSince: Date }>([
      { $match: { state: 'waiting' } },
      { $sort: { [target]: 1, nextTryAt: 1 } },
      { $group: { _id: `$${target}`, dueSince: { $first: '$nextTryAt' } } },
      { $match: { $expr: { $lte: ['$dueSince', '$$NOW'] } } },
      { $sort: { dueSince: 1 } },
      { $limit: mostTargets },
      { $project: { _id: 0, target: '$_id', dueSince: 1 } },
    ])
    .exec();
}
