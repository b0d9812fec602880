import { DeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import type { FaultKind } from '../../shared/deliveries/delivery-fault.ts';
import type { FailedAttempt } from '../../shared/deliveries/outbox.ts';
import type { Database } from '../../shared/models/database.ts';
import { claimMoreDeliveries } from '../../shared/models/delivery-batch.ts';
import {
  claimEventDelivery,
  endEventAttempt,
  findDueEventTargets,
  findTargetOfDelivery,
  releaseEventDelivery,
} from '../../shared/models/event-delivery.ts';
import type {
  AttemptEnd,
  ClaimedDelivery,
  DeliveryAttempt,
  EventDelivery,
} from '../../shared/models/event-delivery.ts';
import { findDestination, pauseDestination } from '../../shared/models/xapi-destination.ts';
import type { XapiDestination } from '../../shared/models/xapi-destination.ts';
import { backoffMs } from '../../shared/platform/backoff.ts';
import { OutboundError } from '../../shared/platform/http/failure.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { privateHostsOf } from '../../shared/webhooks/receiver-url.ts';
import type { ReceiverConfig } from '../../shared/webhooks/receiver-url.ts';
import { authorizationOf } from '../../shared/xapi/destinations.ts';
import type { DeliveryFormat, TimedAttempt } from './delivery-sender.ts';
import type { Outbox } from './delivery-worker.ts';
import { postJson } from './outbound-post.ts';
import type { PostResponse } from './outbound-post.ts';

/** The limits of one request: its statements, and their size. */
const maxBatch = 50;
const maxBatchCharacters = 500_000;

/** The delay of statements to a paused destination; its owner can resume it earlier. */
const pausedMs = 15 * 60_000;

/** The backoff between the attempts of a statement. Nothing is dropped: retries never end. */
const backoff = { firstMs: 5_000, maxMs: 3600_000 };

/** The reasons why a statement was not delivered, with the texts for its owner. */
const faults = {
  timeout: { retry: 'week', target: 'failing' },
  network: { retry: 'week', target: 'failing' },
  blocked_address: { retry: 'week', target: 'failing' },
  unavailable: { retry: 'week', target: 'failing' },
  paused: { retry: 'week', target: 'unknown' },
  /** The LRS rejects this statement. */
  rejected: { retry: 'never', target: 'healthy' },
  removed: { retry: 'moot', target: 'unknown' },
  internal_error: { retry: 'week', target: 'unknown' },
} as const satisfies Record<string, FaultKind>;

class XapiFault extends DeliveryFault<keyof typeof faults> {
  override readonly name = 'XapiFault';

  constructor(
    reason: keyof typeof faults,
    message: string,
    response: { status?: number; body?: string; retryAfter?: string | null } = {},
  ) {
    super(reason, faults[reason], message, response);
  }
}

export interface XapiDependencies {
  db: Database;
  secrets: Pick<Secrets, 'keyPepper'>;
  config: ReceiverConfig;
  log: Logger;
}

type StatementReceipt = Pick<PostResponse, 'status' | 'text'>;

/** The outbox of xAPI statements: each destination is a target. The outbox of webhooks publishes for both. */
export function xapiOutbox(deps: XapiDependencies): Outbox<EventDelivery, ClaimedDelivery, StatementReceipt> {
  return {
    format: xapiFormat(deps),
    queueName: null,
    sweepIntervalMs: 1_000,
    publishDue: () => Promise.resolve(),
  };
}

/**
 * Defines how statements are delivered: in batches. The sender claims the first statement, and the format adds the
 * others.
 */
export function xapiFormat(
  deps: XapiDependencies,
): DeliveryFormat<EventDelivery, ClaimedDelivery, StatementReceipt> {
  const { db } = deps;
  return {
    name: 'statement',
    maxConcurrent: 16,
    findTarget: (id) => findTargetOfDelivery(db, id),
    findDueTargets: () => findDueEventTargets(db, 'xapi'),
    claim: (which) => claimEventDelivery(db, 'xapi', which),
    send: (row, signal) => sendBatch(deps, row, signal),
    internalFault: () => new XapiFault('internal_error', 'A fault of Lectern; see its log'),
    timeoutFault: () => new XapiFault('timeout', 'The LRS took too long'),
    recordSent: (row, { status, text }, attempt) =>
      endEventAttempt(db, row, { to: 'delivered' }, { ...attempt, status, error: null, response: text }),
    recordMoot: (row) => endEventAttempt(db, row, { to: 'dismissed' }, null),
    recordFailed: (row, failure, attempt) =>
      endEventAttempt(db, row, { to: 'failed', failure }, failedAttempt(failure, attempt)),
    recordRetry(row, { failure, retryAfterMs }, attempt) {
      const delayMs = delayOf(row, failure.reason, retryAfterMs);
      return endEventAttempt(db, row, { to: 'waiting', delayMs, failure }, failedAttempt(failure, attempt));
    },
    recordBusy: (row, delayMs) => releaseEventDelivery(db, row, delayMs),
    recordAborted: (row) => releaseEventDelivery(db, row),
  };
}

function delayOf({ tries }: ClaimedDelivery, reason: string, retryAfterMs: number): number {
  return Math.round(reason === 'paused' ? pausedMs : backoffMs(backoff, tries, { retryAfterMs }));
}

function failedAttempt({ status, body, reason }: FailedAttempt, attempt: TimedAttempt): DeliveryAttempt {
  // Without a response, the body is the message of the fault.
  if (status === null) return { ...attempt, status, error: body ?? reason, response: null };
  return { ...attempt, status, error: `The LRS returned ${status}`, response: body };
}

/** Sends a claimed statement with others that are due, and records how the others ended. @throws {XapiFault} */
async function sendBatch(deps: XapiDependencies, first: ClaimedDelivery, signal: AbortSignal) {
  const { db } = deps;
  const destination = await findDestination(db, first.targetId);
  if (destination === null) throw new XapiFault('removed', 'The destination was deleted');
  if (destination.paused !== null) return { outcome: 'paused', retryInMs: pausedMs };
  const others = await claimMoreDeliveries(db, first, maxBatch - 1);
  const at = new Date();
  const started = performance.now();
  const ended = new Set<string>();
  let firstEnd: StatementReceipt | DeliveryFault | undefined;
  const record = async (rows: readonly ClaimedDelivery[], end: StatementReceipt | DeliveryFault) => {
    const attempt = { at, milliseconds: Math.round(performance.now() - started) };
    for (const row of rows) {
      ended.add(row._id);
      if (row._id === first._id) firstEnd = end;
      else await recordEnd(db, row, end, attempt);
    }
  };
  try {
    for (const batch of batchesOf([first, ...others])) {
      await sendHalving(deps, destination, { rows: batch, record, signal });
    }
  } finally {
    // A shutdown, or a fault of Lectern: another worker sends the rest.
    for (const row of others.filter(({ _id }) => !ended.has(_id))) await releaseEventDelivery(db, row);
  }
  if (firstEnd === undefined) throw new XapiFault('internal_error', 'The statement was not sent');
  if (firstEnd instanceof DeliveryFault) throw firstEnd;
  return { outcome: 'sent' as const, receipt: firstEnd };
}

async function recordEnd(
  db: Database,
  row: ClaimedDelivery,
  end: StatementReceipt | DeliveryFault,
  attempt: TimedAttempt,
): Promise<void> {
  if (!(end instanceof DeliveryFault)) {
    const { status, text } = end;
    await endEventAttempt(db, row, { to: 'delivered' }, { ...attempt, status, error: null, response: text });
    return;
  }
  const failure = { at: attempt.at, reason: end.reason, status: end.status, body: end.body ?? end.message };
  const delayMs = delayOf(row, end.reason, end.retryAfterMs ?? 0);
  const to: AttemptEnd =
    end.kind.retry === 'never' ? { to: 'failed', failure } : { to: 'waiting', delayMs, failure };
  await endEventAttempt(db, row, to, failedAttempt(failure, attempt));
}

/** Splits statements into batches that an LRS accepts by size. */
function batchesOf(rows: readonly ClaimedDelivery[]): ClaimedDelivery[][] {
  const batches: ClaimedDelivery[][] = [];
  let size = Infinity;
  for (const row of rows) {
    size += row.body.length;
    if (size > maxBatchCharacters) {
      batches.push([]);
      size = row.body.length;
    }
    batches.at(-1)?.push(row);
  }
  return batches;
}

interface Batch {
  rows: readonly ClaimedDelivery[];
  record: (rows: readonly ClaimedDelivery[], end: StatementReceipt | DeliveryFault) => Promise<void>;
  signal: AbortSignal;
}

/**
 * Sends a batch. An LRS rejects a whole batch because of one bad statement. This function then sends each half by
 * itself, until the bad statement is alone.
 */
async function sendHalving(
  deps: XapiDependencies,
  destination: XapiDestination,
  { rows, record, signal }: Batch,
): Promise<void> {
  let end: StatementReceipt | DeliveryFault;
  try {
    end = await post(deps, destination, rows, signal);
  } catch (error) {
    if (!(error instanceof XapiFault)) throw error;
    end = error;
  }
  if (!(end instanceof XapiFault) || end.reason !== 'rejected' || rows.length === 1) {
    await record(rows, end);
    return;
  }
  const middle = Math.ceil(rows.length / 2);
  await sendHalving(deps, destination, { rows: rows.slice(0, middle), record, signal });
  await sendHalving(deps, destination, { rows: rows.slice(middle), record, signal });
}

/** @throws {XapiFault}; the signal's reason. */
async function post(
  { db, config, secrets, log }: XapiDependencies,
  destination: XapiDestination,
  rows: readonly ClaimedDelivery[],
  signal: AbortSignal,
): Promise<StatementReceipt> {
  const { _id, organizationId, endpoint, version } = destination;
  const url = new URL('statements', endpoint);
  const headers = {
    'User-Agent': 'Lectern-xAPI/1',
    'X-Experience-API-Version': version,
    Authorization: authorizationOf(destination, secrets.keyPepper),
  };
  const body = `[${rows.map((row) => row.body).join(',')}]`;
  let response: PostResponse;
  try {
    response = await postJson(url, { headers, body, privateHosts: privateHostsOf(url, config), signal });
  } catch (error) {
    if (error instanceof OutboundError) throw new XapiFault(error.reason, error.message);
    throw error;
  }
  const { status, text, retryAfter } = response;
  if (status >= 200 && status < 300) return response;
  const reason = reasonOf(status);
  if (reason === 'paused' && (await pauseDestination(db, _id, status))) {
    const about = { destination: _id, organization: organizationId, status };
    log.warn(about, 'an LRS rejects Lectern: its destination is paused until its owner resumes it');
  }
  throw new XapiFault(reason, `The LRS returned ${status}`, { status, body: text, retryAfter });
}

/** The specification names 400, 409 and 413. Servers that check bodies against a schema return 422. */
const rejections = [400, 409, 413, 422];

/** Returns what a status concerns: the statements, the destination (such as its credentials or path), or this time. */
function reasonOf(status: number): 'rejected' | 'unavailable' | 'paused' {
  if (rejections.includes(status)) return 'rejected';
  return status >= 500 || [408, 425, 429].includes(status) ? 'unavailable' : 'paused';
}
