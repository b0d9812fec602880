import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { readUpTo } from '../platform/mongo.ts';

/*
 * Events that wait inside the document whose change they describe (transactional outbox): the write that changes the
 * document also adds the event, so a crash loses neither. A worker copies pending events to the outbox of deliveries, and
 * then removes them here. The ids of deliveries follow from document and event, so a repeated copy adds nothing.
 */

export interface PendingEvent {
  /** Unique among the events of its document. */
  id: string;
  at: Date;
}

/** The fields of a document with pending events. Both are missing while there are none. */
export interface PendingEvents<Event extends PendingEvent> {
  /** The oldest first. */
  events?: Event[];
  /** When a worker next reads the document. */
  eventsDueAt?: Date;
}

/** The schema fields. */
export const pendingEventFields = {
  events: { type: [Schema.Types.Mixed], default: undefined },
  eventsDueAt: { type: Date, default: undefined },
} as const;

/** Adds the index with which workers find documents with pending events. */
export function indexPendingEvents<Document>(schema: Schema<Document>): void {
  schema.index({ eventsDueAt: 1 }, { partialFilterExpression: { eventsDueAt: { $type: 'date' } } });
}

/** Returns the part of an update that adds an event, if there is one, and makes the document due. */
export function addEvent<Event extends PendingEvent>(event: Event | null, dueAt: Date) {
  return {
    ...(event !== null && { $push: { events: { $each: [event] } } }),
    // A missing field becomes dueAt.
    $min: { eventsDueAt: dueAt },
  };
}

/** A document with pending events, as far as publishing needs it. */
export type Pending<Document, Event extends PendingEvent> = Document & PendingEvents<Event> & { _id: string };

/** The maximum size of the events that a worker reads at once. Each event may become many rows. */
export const maxReadBytes = 1_000_000;

/**
 * Returns documents with pending events that are due, the longest wait first: at most `limit`, and fewer if they are
 * large.
 */
export async function findPending<Document>(
  model: Model<Document>,
  projection: Record<string, 1>,
  limit: number,
): Promise<Document[]> {
  const filter = { eventsDueAt: { $type: 'date', $lte: new Date() } };
  const found = model
    .find(filter as object, { ...projection, events: 1, eventsDueAt: 1 })
    .sort({ eventsDueAt: 1 })
    .limit(limit)
    .lean()
    .cursor({ batchSize: limit });
  return (await readUpTo(found as AsyncIterable<object>, maxReadBytes)) as Document[];
}

/** The events of one document that the outbox has now. */
export interface PublishedEvents {
  _id: string;
  ids: string[];
  /** Other fields to set. */
  set?: Record<string, unknown>;
  /** An expression for the time of the next read of a document without events left; missing for no further read. */
  againAt?: unknown;
}

/** Removes published events from their documents. Events that were added meanwhile stay due. */
export async function removePublished<Document>(
  model: Model<Document>,
  published: readonly PublishedEvents[],
): Promise<void> {
  if (published.length === 0) return;
  const isEmpty = { $eq: ['$events', []] };
  const operations = published.map(({ _id, ids, set = {}, againAt = '$$REMOVE' }) => ({
    updateOne: {
      filter: { _id },
      update: [
        {
          $set: {
            ...set,
            events: {
              $filter: {
                input: { $ifNull: ['$events', []] },
                cond: { $not: [{ $in: ['$$this.id', ids] }] },
              },
            },
          },
        },
        {
          $set: {
            eventsDueAt: { $cond: [isEmpty, againAt, '$eventsDueAt'] },
            events: { $cond: [isEmpty, '$$REMOVE', '$events'] },
          },
        },
      ],
    },
  }));
  // Bypasses Mongoose, which does not support expressions.
  await model.collection.bulkWrite(operations as never, { ordered: false });
}

/** Postpones documents whose events cannot be published now. */
export async function postponePending<Document>(
  model: Model<Document>,
  ids: readonly string[],
  until: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await model.updateMany({ _id: { $in: [...ids] } } as object, { $set: { eventsDueAt: until } });
}
