import { LRUCache } from 'lru-cache';
import { progressChanges } from '../events/progress-events.ts';
import type { WantedProgress } from '../events/progress-events.ts';
import type { EventType } from '../events/event-types.ts';
import { listWebhooks } from '../models/webhook.ts';
import type { WebhookDb } from '../models/webhook.ts';
import { listDestinations } from '../models/xapi-destination.ts';
import type { XapiDestinationDb } from '../models/xapi-destination.ts';
import { subscriptionCacheMs } from '../webhooks/manage.ts';

const maxOrganizations = 10_000;

/**
 * Returns the changes of learners' records that an organization's webhooks and xAPI destinations need; null for none.
 * Cached for half a second, because every write of a learner reads it.
 */
export class Subscriptions {
  readonly #db: WebhookDb & XapiDestinationDb;
  readonly #cache = new LRUCache<string, { readAt: number; wanted: Promise<WantedProgress | null> }>({
    max: maxOrganizations,
  });

  constructor(db: WebhookDb & XapiDestinationDb) {
    this.#db = db;
  }

  progressOf(organizationId: string): Promise<WantedProgress | null> {
    const now = performance.now();
    const cached = this.#cache.get(organizationId);
    if (cached !== undefined && now - cached.readAt < subscriptionCacheMs) return cached.wanted;
    const read = { readAt: now, wanted: this.#read(organizationId) };
    this.#cache.set(organizationId, read);
    // Current callers get the rejection, and the next caller retries.
    read.wanted.catch(() => {
      if (this.#cache.peek(organizationId) === read) this.#cache.delete(organizationId);
    });
    return read.wanted;
  }

  async #read(organizationId: string): Promise<WantedProgress | null> {
    const [webhooks, destinations] = await Promise.all([
      listWebhooks(this.#db, [organizationId]),
      listDestinations(this.#db, [organizationId]),
    ]);
    const types = new Set<EventType>(
      webhooks.filter(({ disabled }) => disabled === null).flatMap((webhook) => webhook.types),
    );
    const changes = new Set(progressChanges.filter((change) => types.has(`progress.${change}`)));
    const updates = types.has('progress.updated');
    // A paused destination gets its statements later.
    const details = destinations.length > 0;
    return changes.size > 0 || updates || details ? { changes, updates, details } : null;
  }
}
