import { LRUCache } from 'lru-cache';
import { atMost } from '../platform/cache-size.ts';
import type { EventType } from '../events/event-types.ts';
import { isMissing } from '../models/missed-events.ts';
import { listWebhooks } from '../models/webhook.ts';
import type { Webhook, WebhookDb } from '../models/webhook.ts';
import { listDestinations } from '../models/xapi-destination.ts';
import type { XapiDestinationDb } from '../models/xapi-destination.ts';
import { subscriptionCacheMs } from '../webhooks/manage.ts';

const maxOrganizations = 10_000;

/** The receivers of an organization that get events about learners' records. */
export interface ProgressReceivers {
  webhooks: readonly Pick<Webhook, '_id' | 'types'>[];
  /** Whether there is an xAPI destination. */
  hasDestinations: boolean;
}

/**
 * Returns the receivers of events about learners' records; null for none. Cached for half a second, because every write
 * of a learner reads it.
 */
export class Subscriptions {
  readonly #cache: LRUCache<string, ProgressReceivers>;

  constructor(db: WebhookDb & XapiDestinationDb) {
    this.#cache = new LRUCache({
      ...{ ...atMost(maxOrganizations), ttl: subscriptionCacheMs },
      fetchMethod: (organizationId) => progressReceivers(db, organizationId),
    });
  }

  async progressOf(organizationId: string): Promise<ProgressReceivers | null> {
    const receivers = await this.#cache.forceFetch(organizationId);
    return receivers.webhooks.length > 0 || receivers.hasDestinations ? receivers : null;
  }
}

async function progressReceivers(
  db: WebhookDb & XapiDestinationDb,
  organizationId: string,
): Promise<ProgressReceivers> {
  const [active, destinations] = await Promise.all([
    activeWebhooks(db, organizationId),
    listDestinations(db, [organizationId]),
  ]);
  const webhooks = active.filter(({ types }) => types.some((type) => type.startsWith('progress.')));
  // A paused destination gets its statements later.
  return { webhooks, hasDestinations: destinations.some((destination) => !isMissing(destination)) };
}

/**
 * Returns the webhooks of an organization that get events now, and those of some types only if any are given. Erasures
 * are always reported.
 */
export async function activeWebhooks(
  db: WebhookDb,
  organizationId: string,
  wanted?: readonly EventType[],
): Promise<Webhook[]> {
  const webhooks = await listWebhooks(db, [organizationId]);
  return webhooks.filter(
    (webhook) =>
      webhook.disabled === null &&
      (!isMissing(webhook) || wanted?.includes('learner.erased') === true) &&
      (wanted?.some((type) => webhook.types.includes(type)) ?? true),
  );
}
