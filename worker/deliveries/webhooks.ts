import { randomUUID } from 'node:crypto';
import { isDeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import type { DeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import type { LecternEvent } from '../../shared/events/event-types.ts';
import type { ClaimedDelivery } from '../../shared/models/event-delivery.ts';
import {
  disableWebhook,
  findWebhook,
  markWebhookFailing,
  markWebhookWorking,
} from '../../shared/models/webhook.ts';
import type { Webhook } from '../../shared/models/webhook.ts';
import { changeWithEvents } from '../../shared/outgoing/publish-events.ts';
import { withJitter } from '../../shared/platform/backoff.ts';
import { openWebhookSecrets, signedHeaders } from '../../shared/webhooks/secrets.ts';
import { eventFormat, faultsOf, isUnavailable, postEvent } from './event-format.ts';
import type { EventDependencies, EventFormat, EventReceipt } from './event-format.ts';

const receiver = 'The receiver';
const fault = faultsOf({
  rejected: { retry: 'week', target: 'unknown' },
  gone: { retry: 'never', target: 'failing' },
  disabled: { retry: 'never', target: 'unknown' },
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * The delays after the first, second, … failed attempt: three days in all. After the last one, the delivery has failed.
 */
const retryDelaysMs = [
  ...[5_000, 5 * minuteMs, 30 * minuteMs],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** The factors of a delay with jitter: deliveries that failed together are not retried together. */
const jitter: [number, number] = [0.9, 1.1];
const maxRetryAfterMs = 24 * hourMs;

/** A webhook is disabled after every attempt has failed for this long. */
const maxFailingMs = 3 * 24 * hourMs;

/** Defines how events reach webhooks, each a target (Standard Webhooks 1.0.0). */
export function webhookFormat(deps: EventDependencies): EventFormat {
  return eventFormat(deps, {
    ...{ kind: 'webhook', name: 'webhook delivery', receiver, fault },
    // Deliveries wait for receivers most of the time.
    maxConcurrent: 32,
    send: async (row, signal) => ({ outcome: 'sent', receipt: await deliver(deps, row, signal) }),
    delayMsOf({ tries }, _failure, retryAfterMs) {
      const scheduledMs = retryDelaysMs[tries];
      if (scheduledMs === undefined) return null;
      const jitteredMs = withJitter(scheduledMs, jitter);
      return Math.round(Math.max(jitteredMs, Math.min(retryAfterMs, maxRetryAfterMs)));
    },
  });
}

/** Posts an event, and records whether the webhook works. @throws {DeliveryFault} */
async function deliver(
  deps: EventDependencies,
  row: ClaimedDelivery,
  signal: AbortSignal,
): Promise<EventReceipt> {
  const { db } = deps;
  const webhook = await findWebhook(db, row.targetId);
  if (webhook === null) throw fault('removed', 'The webhook was deleted');
  if (webhook.disabled !== null && row.type !== 'ping') throw fault('disabled', 'The webhook is disabled');
  try {
    const response = await post(deps, webhook, row, signal);
    if (webhook.failingSince !== null) await markWebhookWorking(db, webhook._id);
    return response;
  } catch (error) {
    if (isDeliveryFault(error)) await recordFault(deps, webhook, error);
    throw error;
  }
}

function post(
  { config, secrets, lookup }: EventDependencies,
  webhook: Webhook,
  { _id: id, body }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<EventReceipt> {
  // Each attempt is signed with its own time, because receivers reject old ones.
  const signed = signedHeaders(openWebhookSecrets(webhook, secrets.keyPepper), { id, body, at: new Date() });
  const headers = { 'User-Agent': 'Lectern-Webhooks/1', ...signed };
  const request = { headers, body, signal, lookup, config, receiver, fault, reasonOf };
  return postEvent(new URL(webhook.url), request);
}

function reasonOf(status: number): 'gone' | 'unavailable' | 'rejected' {
  if (status === 410) return 'gone';
  return isUnavailable(status) ? 'unavailable' : 'rejected';
}

async function recordFault(
  { db, log }: EventDependencies,
  { _id: webhookId, organizationId, url, failingSince }: Webhook,
  { reason }: DeliveryFault,
): Promise<void> {
  const now = new Date();
  const isPersistent = failingSince !== null && now.getTime() - failingSince.getTime() >= maxFailingMs;
  if (reason !== 'gone' && !isPersistent) {
    if (failingSince === null) await markWebhookFailing(db, webhookId, now);
    return;
  }
  const why = reason === 'gone' ? 'gone' : 'failing';
  const event: LecternEvent = {
    ...{ type: 'webhook.disabled', key: randomUUID(), at: now },
    ...{ organizationId, lessonId: null, learnerId: null },
    data: { organizationId, webhookId, url, reason: why },
  };
  const isDisabled = await changeWithEvents(
    db,
    { organizationId, types: ['webhook.disabled'], except: webhookId },
    (session) => disableWebhook(db, webhookId, why, session),
    (changed) => (changed ? [event] : []),
  );
  if (isDisabled) {
    log.warn({ webhook: webhookId, organization: organizationId, reason: why }, 'a webhook was disabled');
  }
}
