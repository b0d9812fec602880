import { DeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import type { FaultKind } from '../../shared/deliveries/delivery-fault.ts';
import type { FailedAttempt } from '../../shared/deliveries/outbox.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  claimEventDelivery,
  endEventAttempt,
  findDueEventTargets,
  findTargetOfDelivery,
  releaseEventDelivery,
} from '../../shared/models/event-delivery.ts';
import type { ClaimedDelivery, DeliveryAttempt, EventDelivery } from '../../shared/models/event-delivery.ts';
import {
  disableWebhook,
  findWebhook,
  markWebhookFailing,
  markWebhookWorking,
} from '../../shared/models/webhook.ts';
import type { Webhook } from '../../shared/models/webhook.ts';
import { publishDueEvents } from '../../shared/outgoing/publish-events.ts';
import { OutboundError } from '../../shared/platform/http/failure.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { openWebhookSecrets, signedHeaders } from '../../shared/webhooks/secrets.ts';
import { privateHostsOf } from '../../shared/webhooks/receiver-url.ts';
import type { ReceiverConfig } from '../../shared/webhooks/receiver-url.ts';
import type { DeliveryFormat, TimedAttempt } from './delivery-sender.ts';
import type { Outbox } from './delivery-worker.ts';
import { postJson } from './outbound-post.ts';
import type { PostResponse } from './outbound-post.ts';

/** The reasons why an event was not delivered, with the texts for its owner. */
const faults = {
  timeout: { retry: 'week', target: 'failing' },
  network: { retry: 'week', target: 'failing' },
  blocked_address: { retry: 'week', target: 'failing' },
  unavailable: { retry: 'week', target: 'failing' },
  rejected: { retry: 'week', target: 'unknown' },
  gone: { retry: 'never', target: 'failing' },
  disabled: { retry: 'never', target: 'unknown' },
  removed: { retry: 'moot', target: 'unknown' },
  internal_error: { retry: 'week', target: 'unknown' },
} as const satisfies Record<string, FaultKind>;

class WebhookFault extends DeliveryFault<keyof typeof faults> {
  override readonly name = 'WebhookFault';

  constructor(
    reason: keyof typeof faults,
    message: string,
    response: { status?: number; body?: string; retryAfter?: string | null } = {},
  ) {
    super(reason, faults[reason], message, response);
  }
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * The delays after the first, second, … failed attempt: three days in all. After the last one, the delivery has failed.
 */
export const retryDelaysMs = [
  ...[5_000, 5 * minuteMs, 30 * minuteMs],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** The share of a delay that is random, so that deliveries that failed together are not retried together. */
const jitter = 0.2;
const maxRetryAfterMs = 24 * hourMs;

/** A webhook is disabled after every attempt has failed for this long. */
const maxFailingMs = 3 * 24 * hourMs;

export interface WebhookDependencies {
  db: Database;
  secrets: Pick<Secrets, 'keyPepper'>;
  config: ReceiverConfig;
  /** Lectern's public URL, for ids in statements; without a trailing slash. */
  publicUrl: string;
  log: Logger;
}

/** The outbox of webhooks: each webhook is a target. */
export function webhookOutbox(
  deps: WebhookDependencies,
): Outbox<EventDelivery, ClaimedDelivery, DeliveryReceipt> {
  return {
    format: webhookFormat(deps),
    queueName: null,
    sweepIntervalMs: 1_000,
    publishDue: (signal) => publishDueEvents({ ...deps, pepper: deps.secrets.keyPepper }, signal),
  };
}

type DeliveryReceipt = Pick<PostResponse, 'status' | 'text'>;

/** Defines how events are delivered to webhooks: Standard Webhooks 1.0.0. */
export function webhookFormat(
  deps: WebhookDependencies,
): DeliveryFormat<EventDelivery, ClaimedDelivery, DeliveryReceipt> {
  const { db } = deps;
  const fail = (row: ClaimedDelivery, failure: FailedAttempt, attempt: TimedAttempt) =>
    endEventAttempt(db, row, { to: 'failed', failure }, failedAttempt(failure, attempt));
  return {
    name: 'webhook delivery',
    // They wait for receivers most of the time.
    maxConcurrent: 64,
    findTarget: (id) => findTargetOfDelivery(db, id),
    findDueTargets: () => findDueEventTargets(db, 'webhook'),
    claim: (which) => claimEventDelivery(db, 'webhook', which),
    async send(row, signal) {
      return { outcome: 'sent', receipt: await deliver(deps, row, signal) };
    },
    internalFault: () => new WebhookFault('internal_error', 'A fault of Lectern; see its log'),
    timeoutFault: () => new WebhookFault('timeout', 'The receiver took too long'),
    recordSent: (row, { status, text }, attempt) =>
      endEventAttempt(db, row, { to: 'delivered' }, { ...attempt, status, error: null, response: text }),
    recordMoot: (row) => endEventAttempt(db, row, { to: 'dismissed' }, null),
    recordFailed: fail,
    recordRetry(row, { failure, retryAfterMs }, attempt) {
      const scheduledMs = retryDelaysMs[row.tries];
      if (scheduledMs === undefined) return fail(row, failure, attempt);
      const jitteredMs = scheduledMs * (1 - jitter / 2 + jitter * Math.random());
      const delayMs = Math.round(Math.max(jitteredMs, Math.min(retryAfterMs, maxRetryAfterMs)));
      return endEventAttempt(db, row, { to: 'waiting', delayMs, failure }, failedAttempt(failure, attempt));
    },
    recordBusy: (row, delayMs) => releaseEventDelivery(db, row, delayMs),
    recordAborted: (row) => releaseEventDelivery(db, row),
  };
}

function failedAttempt({ status, body, reason }: FailedAttempt, attempt: TimedAttempt): DeliveryAttempt {
  // Without a response, the body is the message of the fault.
  if (status === null) return { ...attempt, status, error: body ?? reason, response: null };
  return { ...attempt, status, error: `The receiver returned ${status}`, response: body };
}

/** Posts an event, and records whether the webhook works. @throws {WebhookFault} */
async function deliver(
  deps: WebhookDependencies,
  row: ClaimedDelivery,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const { db } = deps;
  const webhook = await findWebhook(db, row.targetId);
  if (webhook === null) throw new WebhookFault('removed', 'The webhook was deleted');
  if (webhook.disabled !== null && row.type !== 'ping') {
    throw new WebhookFault('disabled', 'The webhook is disabled');
  }
  try {
    const response = await post(deps, webhook, row, signal);
    if (webhook.failingSince !== null) await markWebhookWorking(db, webhook._id);
    return response;
  } catch (error) {
    if (error instanceof WebhookFault) await recordFault(deps, webhook, error);
    throw error;
  }
}

async function post(
  { config, secrets }: WebhookDependencies,
  webhook: Webhook,
  { _id: id, body }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<PostResponse> {
  const url = new URL(webhook.url);
  // Each attempt is signed with its own time, because receivers reject old ones.
  const signed = signedHeaders(openWebhookSecrets(webhook, secrets.keyPepper), { id, body, at: new Date() });
  const headers = { 'User-Agent': 'Lectern-Webhooks/1', ...signed };
  let response: PostResponse;
  try {
    response = await postJson(url, { headers, body, privateHosts: privateHostsOf(url, config), signal });
  } catch (error) {
    if (error instanceof OutboundError) throw new WebhookFault(error.reason, error.message);
    throw error;
  }
  const { status, text, retryAfter } = response;
  if (status >= 200 && status < 300) return response;
  throw new WebhookFault(reasonOf(status), `The receiver returned ${status}`, {
    status,
    body: text,
    retryAfter,
  });
}

function reasonOf(status: number): 'gone' | 'unavailable' | 'rejected' {
  if (status === 410) return 'gone';
  return status >= 500 || [408, 425, 429].includes(status) ? 'unavailable' : 'rejected';
}

async function recordFault(
  { db, log }: WebhookDependencies,
  { _id: webhookId, organizationId, failingSince }: Webhook,
  { reason }: WebhookFault,
): Promise<void> {
  const now = new Date();
  const isPersistent = failingSince !== null && now.getTime() - failingSince.getTime() >= maxFailingMs;
  if (reason !== 'gone' && !isPersistent) {
    if (failingSince === null) await markWebhookFailing(db, webhookId, now);
    return;
  }
  const why = reason === 'gone' ? 'gone' : 'failing';
  if (await disableWebhook(db, webhookId, why)) {
    log.warn({ webhook: webhookId, organization: organizationId, reason: why }, 'a webhook was disabled');
  }
}
