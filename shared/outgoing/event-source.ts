import type { Model } from 'mongoose';
import type { EventOwner } from '../models/event-backlog.ts';
import type { LecternEvent } from '../events/event-types.ts';
import type { PendingEvent, PendingEvents, PublishedEvents } from '../events/pending-events.ts';
import type { RecordedWrite } from './statement-rows.ts';
import type { Webhook } from '../models/webhook.ts';

/** A document of an organization with pending events. */
export interface PendingDocument extends PendingEvents<PendingEvent> {
  _id: string;
  organizationId: string;
}

/** The events of a document, and the fields to remove from it once the outbox has them. */
export interface ReadEvents {
  events: LecternEvent[];
  /** Writes of learners, for xAPI statements. */
  writes?: RecordedWrite[];
  published: PublishedEvents;
}

/** A collection whose documents have pending events. */
export interface EventSource<Document extends PendingDocument> {
  model: Model<Document>;
  /** The fields that `read` needs, beside the events and the organization. */
  fields: Record<string, 1>;
  /** Returns the record whose events the backlog may keep; missing for other collections, whose events are few. */
  ownerOf?: (this: void, document: Document) => EventOwner;
  /** @param webhooks the active ones of the document's organization. */
  read: (this: void, document: Document, webhooks: readonly Webhook[]) => ReadEvents;
}
