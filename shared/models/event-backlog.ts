import { LRUCache } from 'lru-cache';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import type { ProgressEvent } from '../events/progress-events.ts';
import { maxReadBytes } from '../events/pending-events.ts';
import { isDuplicatesOnly, readUpTo, schemaOptions } from '../platform/mongo.ts';

/*
 * The backlog: events of learners' records for which the outbox has no room. A row of the outbox is for one webhook or one
 * statement, so an event may become hundreds of them; here it stays one document. Workers move it on when the outbox of
 * its organization has room again.
 */

/** Identifies the record of an event, with the fields that events contain about its learner. */
export type EventOwner = {
  _id: string;
  organizationId: string;
  lessonId: string;
} & ({ learnerId: string } | { ltiUserId: string; platformId: string; contextId: string | null });

export interface BacklogEntry {
  _id: string;
  organizationId: string;
  owner: EventOwner;
  event: ProgressEvent;
  /** Workers skip the entry until this time, because it could not be read. */
  skippedUntil?: Date;
}

export interface EventBacklogDb {
  eventBacklog: Model<BacklogEntry>;
}

export const eventBacklogSchema = new Schema<BacklogEntry>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    owner: { type: Schema.Types.Mixed, required: true },
    event: { type: Schema.Types.Mixed, required: true },
    skippedUntil: { type: Date, default: undefined },
  },
  schemaOptions,
);
eventBacklogSchema.index({ organizationId: 1, 'event.at': 1 });
// For the entries of a learner.
eventBacklogSchema.index(
  { organizationId: 1, 'owner.learnerId': 1, _id: 1 },
  { partialFilterExpression: { 'owner.learnerId': { $exists: true } } },
);
eventBacklogSchema.index(
  { organizationId: 1, 'owner.platformId': 1, 'owner.ltiUserId': 1, _id: 1 },
  { partialFilterExpression: { 'owner.ltiUserId': { $exists: true } } },
);

/** The limit per organization. Above it, events stay in their records, which keep their newest ones. */
export const maxBacklog = 500_000;

/** Counting is slow, and is needed when the load is high. */
const countCacheMs = 60_000;
const maxOrganizations = 10_000;
const counted = new WeakMap<EventBacklogDb, LRUCache<string, boolean>>();

/** Returns whether an organization is below the limit; up to a minute late. */
export async function hasBacklogRoom(db: EventBacklogDb, organizationId: string): Promise<boolean> {
  const options = { max: maxOrganizations, ttl: countCacheMs };
  const cache = counted.get(db) ?? new LRUCache<string, boolean>(options);
  counted.set(db, cache);
  const known = cache.get(organizationId);
  if (known !== undefined) return known;
  const count = await db.eventBacklog.countDocuments({ organizationId }, { limit: maxBacklog }).exec();
  cache.set(organizationId, count < maxBacklog);
  return count < maxBacklog;
}

/** Adds events of records, and leaves existing ones unchanged. */
export async function addToBacklog(
  db: EventBacklogDb,
  records: readonly { owner: EventOwner; events: readonly ProgressEvent[] }[],
): Promise<void> {
  const entries = records.flatMap(({ owner, events }) =>
    events.map((event): BacklogEntry => {
      const { _id, organizationId } = owner;
      return { _id: `${_id}:${event.id}`, organizationId, owner, event };
    }),
  );
  if (entries.length === 0) return;
  try {
    await db.eventBacklog.collection.insertMany(entries as never, { ordered: false });
  } catch (error) {
    if (!isDuplicatesOnly(error)) throw error;
  }
}

/** Returns the organizations with a backlog. */
export function listBacklogOwners(db: EventBacklogDb): Promise<string[]> {
  return db.eventBacklog.distinct('organizationId', { organizationId: { $type: 'string' } }).exec();
}

/** Returns the oldest events of an organization: at most `limit`, and fewer if they are large. */
export function readBacklog(
  db: EventBacklogDb,
  organizationId: string,
  limit: number,
): Promise<BacklogEntry[]> {
  const found = db.eventBacklog
    .find({ organizationId, skippedUntil: { $not: { $gt: new Date() } } })
    .sort({ 'event.at': 1 })
    .limit(limit)
    .lean<BacklogEntry>()
    .cursor({ batchSize: limit });
  return readUpTo<BacklogEntry>(found, maxReadBytes);
}

export async function removeFromBacklog(db: EventBacklogDb, ids: readonly string[]): Promise<void> {
  await db.eventBacklog.deleteMany({ _id: { $in: [...ids] } });
}

/** Makes workers skip events until a time, so that these do not block the others of their organization. */
export async function skipInBacklog(
  db: EventBacklogDb,
  ids: readonly string[],
  skippedUntil: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await db.eventBacklog.updateMany({ _id: { $in: [...ids] } }, { $set: { skippedUntil } });
}
