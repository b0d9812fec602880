import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventType, LecternEvent } from '../events/event-types.ts';
import type { Database } from '../models/database.ts';
import { countWaiting, maxWaitingRows } from '../models/delivery-limits.ts';
import { deleteDeliveriesTo, insertDeliveries } from '../models/event-delivery.ts';
import type { NewDelivery } from '../models/event-delivery.ts';
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  updateWebhook,
} from '../models/webhook.ts';
import type { Webhook } from '../models/webhook.ts';
import { LecternError } from '../platform/errors.ts';
import { uuidV5 } from '../platform/uuid.ts';
import { deriveWebhookSecret, sealWebhookSecret } from './secrets.ts';

/** The limit per organization. Each webhook may hold slots of workers while its receiver does not respond. */
export const maxWebhooks = 20;

/**
 * How long processes cache an organization's subscriptions. A change of subscriptions waits longer than this before it
 * resolves. By then, every process records events for it.
 */
export const subscriptionCacheMs = 500;
export const spreadMs = subscriptionCacheMs + 250;

export const webhookNotFound = 'Webhook not found';
export const rotatedMeanwhile = 'Another request rotated the secret at the same time';
export const tooManyWaiting = 'Too many deliveries of the organization wait';
export const tooManyWebhooks = `An organization may have at most ${maxWebhooks} webhooks`;

/** The settings of a webhook that its owner decides. */
export interface WebhookSettings {
  url: string;
  types: EventType[];
  description: string;
}

/** Identifies a webhook of an organization. */
export interface WebhookKey {
  id: string;
  organizationId: string;
}

/**
 * Creates a webhook. Resolves once it receives every later event.
 *
 * @param id the id of the webhook. An earlier run of the request may have created it already.
 * @returns the webhook with its secret, which Lectern never shows again.
 * @throws {LecternError} CONFLICT if the organization has too many.
 */
export async function createWebhook(
  db: Database,
  pepper: string,
  organizationId: string,
  settings: WebhookSettings,
  id: string = randomUUID(),
): Promise<{ webhook: Webhook; secret: string }> {
  const secret = deriveWebhookSecret(id, pepper);
  const existing = await findWebhook(db, id, organizationId);
  if (existing === null && (await countWebhooks(db, organizationId)) >= maxWebhooks) {
    throw new LecternError('CONFLICT', tooManyWebhooks);
  }
  const sealed = sealWebhookSecret(secret, id, pepper);
  const webhook =
    existing ?? (await insertWebhook(db, { _id: id, organizationId, ...settings, secret: sealed }));
  // Concurrent requests beyond the limit undo their work.
  if ((await countWebhooks(db, organizationId)) > maxWebhooks) {
    await deleteWebhook(db, id, organizationId);
    throw new LecternError('CONFLICT', tooManyWebhooks);
  }
  await delay(spreadMs);
  return { webhook, secret };
}

/**
 * Changes a webhook. Resolves once the change applies to every later event.
 *
 * @param changes.isActive false stops it; true starts it again, even if Lectern disabled it.
 * @throws {LecternError} NOT_FOUND
 */
export async function changeWebhook(
  db: Database,
  key: WebhookKey,
  { isActive, ...settings }: Partial<WebhookSettings> & { isActive?: boolean | undefined },
): Promise<Webhook> {
  const changed = await updateWebhook(db, key, {
    ...settings,
    ...(isActive === true && { disabled: null, failingSince: null }),
    ...(isActive === false && { disabled: { reason: 'owner' as const, at: new Date() } }),
  });
  if (changed === null) throw notFound();
  await delay(spreadMs);
  return changed;
}

/** Returns a webhook of an organization. @throws {LecternError} NOT_FOUND */
export async function requireWebhook(db: Database, { id, organizationId }: WebhookKey): Promise<Webhook> {
  const webhook = await findWebhook(db, id, organizationId);
  if (webhook === null) throw notFound();
  return webhook;
}

/** Deletes a webhook with its deliveries. @throws {LecternError} NOT_FOUND */
export async function removeWebhook(db: Database, { id, organizationId }: WebhookKey): Promise<void> {
  if (!(await deleteWebhook(db, id, organizationId))) throw notFound();
  await deleteDeliveriesTo(db, id);
}

/**
 * Gives a webhook another secret. Both sign until the previous one expires; an even older secret stops signing.
 *
 * @param rotationId identifies the rotation. If an earlier run of the request has set its secret, that secret stays.
 * @throws {LecternError} NOT_FOUND; CONFLICT if a concurrent rotation was first, because its secret would never sign.
 */
export async function rotateWebhookSecret(
  db: Database,
  pepper: string,
  key: WebhookKey,
  overlapSeconds: number,
  rotationId: string = randomUUID(),
): Promise<{ webhook: Webhook; secret: string }> {
  const current = await requireWebhook(db, key);
  const secret = deriveWebhookSecret(rotationId, pepper);
  if (current.rotationId === rotationId) return { webhook: current, secret };
  const { secret: previousSecret } = current;
  const changes = {
    secret: sealWebhookSecret(secret, key.id, pepper),
    rotationId,
    previousSecret,
    previousSecretUntil: new Date(Date.now() + overlapSeconds * 1000),
  };
  const webhook = await updateWebhook(db, key, changes, { rotationId: current.rotationId });
  if (webhook !== null) return { webhook, secret };
  const latest = await requireWebhook(db, key);
  if (latest.rotationId !== rotationId) throw new LecternError('CONFLICT', rotatedMeanwhile);
  return { webhook: latest, secret };
}

/**
 * Queues a `ping` for a webhook, even if it is disabled. Returns the id of the delivery.
 *
 * @throws {LecternError} NOT_FOUND; CONFLICT if too many deliveries wait.
 */
export async function testWebhook(
  db: Database,
  key: WebhookKey,
  { pingId = randomUUID(), maxWaiting = maxWaitingRows }: { pingId?: string; maxWaiting?: number } = {},
): Promise<string> {
  const webhook = await requireWebhook(db, key);
  const { organizationId } = webhook;
  const waiting = await countWaiting(db, organizationId, maxWaiting);
  if (waiting >= maxWaiting) throw new LecternError('CONFLICT', tooManyWaiting);
  const ping: LecternEvent = {
    ...{ type: 'ping', key: `ping:${pingId}`, at: new Date(), organizationId },
    ...{ lessonId: null, learnerId: null },
    data: { organizationId, webhookId: webhook._id },
  };
  const row = webhookDelivery(webhook._id, ping);
  await insertDeliveries(db, [row]);
  return row._id;
}

/** Returns the delivery of an event to a webhook. Its id is derived from both, so that no event is queued twice. */
export function webhookDelivery(webhookId: string, event: LecternEvent): NewDelivery {
  const { key, type, at, organizationId, lessonId, learnerId, data } = event;
  return {
    _id: `evt_${uuidV5(webhookId, key)}`,
    kind: 'webhook',
    targetId: webhookId,
    ...{ organizationId, type, lessonId, learnerId, eventAt: at },
    platformId: learnerId !== null && 'platformId' in data ? data.platformId : null,
    body: JSON.stringify({ type, timestamp: at.toISOString(), data }),
  };
}

function notFound(): LecternError {
  return new LecternError('NOT_FOUND', webhookNotFound);
}
