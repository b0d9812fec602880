import { randomUUID } from 'node:crypto';
import { isDeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import type { DeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import { leaseMs } from '../../shared/deliveries/outbox.ts';
import { postponeDue, releaseEventDeliveries, waitAgain } from '../../shared/models/event-delivery.ts';
import type { ClaimedDelivery } from '../../shared/models/event-delivery.ts';
import {
  clearRejections,
  countRejection,
  findDestination,
  noIds,
  pauseDestination,
} from '../../shared/models/xapi-destination.ts';
import type { XapiDestination } from '../../shared/models/xapi-destination.ts';
import type { LecternEvent } from '../../shared/events/event-types.ts';
import { changeWithEvents } from '../../shared/outgoing/publish-events.ts';
import { backoffMs } from '../../shared/platform/backoff.ts';
import { xapiHeaders } from '../../shared/xapi/destinations.ts';
import { endOfFault } from './delivery-sender.ts';
import type { AttemptEnd, Delivered } from './delivery-sender.ts';
import { eventFormat, faultsOf, isUnavailable, postEvent } from './event-format.ts';
import type { EventDependencies, EventFormat, EventReceipt } from './event-format.ts';
import { batchesOf, claimMore } from './statement-batches.ts';

/** The delay of statements to a paused destination; its owner can resume it earlier. */
const pausedMs = 15 * 60_000;

/**
 * If an LRS rejects this many consecutive statements, the destination is wrong, not the statements: the path, or a
 * strict schema. Lectern pauses the destination before all its statements have failed.
 */
const maxRejections = 10;

/** The backoff between the attempts of a statement. Nothing is dropped: retries never end. */
const backoff = { firstMs: 5_000, maxMs: 3600_000 };

function retryDelayMs(
  tries: number,
  { reason, retryAfterMs }: Pick<DeliveryFault, 'reason' | 'retryAfterMs'>,
): number {
  if (reason === 'paused') return pausedMs;
  return Math.round(backoffMs(backoff, tries, { retryAfterMs: retryAfterMs ?? 0 }));
}

/** How long an LRS may return no ids until its destination is paused: a proxy's page of maintenance takes less. */
const noIdsMs = 15 * 60_000;

const receiver = 'The LRS';
const fault = faultsOf({
  paused: { retry: 'week', target: 'unknown' },
  /** Another server, such as one for a website, is at the URL, perhaps only for a while. */
  [noIds]: { retry: 'week', target: 'failing' },
  /** The LRS rejects this statement. */
  rejected: { retry: 'never', target: 'healthy' },
});

/**
 * Defines how xAPI statements are delivered: each destination is a target. Statements are sent in batches: the sender
 * claims the first one, and the format adds others.
 */
export function xapiFormat(deps: EventDependencies): EventFormat {
  const format: EventFormat = eventFormat(deps, {
    ...{ kind: 'xapi', name: 'statement', receiver, fault, maxConcurrent: 8 },
    send: (row, signal) => sendBatch(deps, format, row, signal),
    delayMsOf: ({ tries }, { reason }, retryAfterMs) => retryDelayMs(tries, { reason, retryAfterMs }),
  });
  return format;
}

/** Sends a claimed statement with other due ones, and records the outcomes of the others. @throws {DeliveryFault} */
async function sendBatch(
  deps: EventDependencies,
  format: EventFormat,
  first: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Delivered<EventReceipt>> {
  const { db } = deps;
  const claimedAt = performance.now();
  const destination = await findDestination(db, first.targetId);
  if (destination === null) throw fault('removed', 'The destination was deleted');
  if (destination.paused !== null) {
    await postponeDue(db, first, pausedMs);
    return { outcome: 'paused', retryInMs: pausedMs };
  }
  const claimed = [first, ...(await claimMore(db, first))];
  const isOther = ({ _id }: ClaimedDelivery) => _id !== first._id;
  const at = new Date();
  const started = performance.now();
  const ended = new Set<string>();
  let firstEnd: EventReceipt | DeliveryFault | undefined;
  const record = async (rows: readonly ClaimedDelivery[], end: EventReceipt | DeliveryFault) => {
    const attempt = { at, milliseconds: Math.round(performance.now() - started) };
    for (const row of rows) {
      ended.add(row._id);
      if (isOther(row)) await format.record(row, endOf(end, row), attempt);
      else firstEnd = end;
    }
  };
  const batch: Batch = {
    ...{ destination, at, record, signal, stoppedBy: null, endsAt: claimedAt + leaseMs / 2 },
    hasRejections: destination.rejections !== undefined,
  };
  /** After a fault, what was not sent waits as long as what failed; the next claim finds a pause. */
  const restMs = () => {
    const { stoppedBy } = batch;
    if (stoppedBy === null || stoppedBy.reason === 'paused') return 0;
    return retryDelayMs(Math.max(...claimed.map(({ tries }) => tries)), stoppedBy);
  };
  try {
    for (const rows of batchesOf(claimed)) if (!(await sendHalving(deps, batch, rows))) break;
  } catch (error) {
    if (!isDeliveryFault(error)) throw error;
    batch.stoppedBy = error;
    // The destination is paused now, so the first statement waits too, unless it was sent.
    if (isDeliveryFault(firstEnd)) firstEnd = error;
  } finally {
    const rest = claimed.filter((row) => isOther(row) && !ended.has(row._id));
    await releaseEventDeliveries(db, rest, restMs());
  }
  // The time was over before the halves of a rejected batch were sent.
  if (firstEnd === undefined)
    return { outcome: 'unfinished', retryInMs: restMs(), stoppedBy: batch.stoppedBy };
  if (isDeliveryFault(firstEnd)) throw firstEnd;
  return { outcome: 'sent', receipt: firstEnd };
}

function endOf(end: EventReceipt | DeliveryFault, { tries }: ClaimedDelivery): AttemptEnd<EventReceipt> {
  return isDeliveryFault(end) ? endOfFault(end, tries) : { to: 'delivered', receipt: end };
}

interface Batch {
  destination: XapiDestination;
  /** When the attempt began. */
  at: Date;
  /** Whether the LRS rejected the last statement. */
  hasRejections: boolean;
  record: (rows: readonly ClaimedDelivery[], end: EventReceipt | DeliveryFault) => Promise<void>;
  signal: AbortSignal;
  /** When no more is sent, by `performance.now()`: early enough before the leases end. */
  endsAt: number;
  /** The fault for which later statements must wait, too. */
  stoppedBy: DeliveryFault | null;
}

/**
 * Sends a batch. An LRS rejects a whole batch because of one bad statement. This function then sends each half by
 * itself, until the bad statement is alone.
 *
 * @returns whether later statements may be sent; `stoppedBy` of the batch says why not.
 * @throws {DeliveryFault} if the LRS has rejected so many consecutive statements that Lectern paused the destination.
 */
async function sendHalving(
  deps: EventDependencies,
  batch: Batch,
  rows: readonly ClaimedDelivery[],
): Promise<boolean> {
  const { destination, record, signal } = batch;
  if (performance.now() > batch.endsAt) return false;
  let end: EventReceipt | DeliveryFault;
  try {
    end = await post(deps, destination, rows, signal);
  } catch (error) {
    if (!isDeliveryFault(error)) throw error;
    end = error;
  }
  const isRejected = isDeliveryFault(end) && end.reason === 'rejected';
  if (isRejected && rows.length > 1) {
    const middle = Math.ceil(rows.length / 2);
    if (!(await sendHalving(deps, batch, rows.slice(0, middle)))) return false;
    return sendHalving(deps, batch, rows.slice(middle));
  }
  await record(rows, end);
  if (!isDeliveryFault(end) && batch.hasRejections) {
    await clearRejections(deps.db, destination._id);
    batch.hasRejections = false;
  } else if (isDeliveryFault(end) && isRejected) {
    await countRejected(deps, batch, end);
    batch.hasRejections = true;
  }
  if (isDeliveryFault(end) && !isRejected) batch.stoppedBy = end;
  return batch.stoppedBy === null;
}

/** Counts a rejected statement. @throws {DeliveryFault} if the destination is paused because of it. */
async function countRejected(
  deps: EventDependencies,
  { destination: { _id }, destination, at }: Batch,
  { status, body }: DeliveryFault,
): Promise<void> {
  const rejections = await countRejection(deps.db, _id, at);
  if (rejections === null || status === null || rejections.count < maxRejections) return;
  await pause(deps, destination, status);
  await waitAgain(deps.db, _id, rejections.since, pausedMs);
  const message = `The LRS rejected ${rejections.count} statements in a row`;
  throw fault('paused', message, { status, ...(body !== null && { body }) });
}

/** @throws {DeliveryFault}; the signal's reason. */
async function post(
  deps: EventDependencies,
  destination: XapiDestination,
  rows: readonly ClaimedDelivery[],
  signal: AbortSignal,
): Promise<EventReceipt> {
  const { config, secrets, lookup } = deps;
  const headers = xapiHeaders(destination, secrets.keyPepper);
  const body = `[${rows.map((row) => row.body).join(',')}]`;
  const request = { headers, body, signal, lookup, config, receiver, fault, reasonOf, needsBody: true };
  try {
    const { status, text } = await postEvent(new URL('statements', destination.endpoint), request);
    if (status === 204 || hasIds(text, body)) return { status, text };
    const isLasting = rows.some(
      ({ failure }) => failure?.reason === noIds && Date.now() - failure.since.getTime() >= noIdsMs,
    );
    const message = `The LRS returned ${status} without the ids of the statements`;
    throw fault(isLasting ? 'paused' : noIds, message, { status, body: text });
  } catch (error) {
    if (isDeliveryFault(error) && error.reason === 'paused' && error.status !== null) {
      await pause(deps, destination, error.status);
    }
    throw error;
  }
}

/** Returns whether a response has ids of statements of a request: Ralph leaves out those that it has stored before. */
function hasIds(text: string, sent: string): boolean {
  try {
    const ids: unknown = JSON.parse(text);
    return Array.isArray(ids) && ids.length > 0 && ids.every((id) => sent.includes(JSON.stringify(id)));
  } catch {
    return false;
  }
}

/** Pauses a destination, and reports it. */
async function pause(
  { db, log }: EventDependencies,
  { _id, organizationId, endpoint }: XapiDestination,
  status: number,
): Promise<void> {
  const event: LecternEvent = {
    ...{
      type: 'xapi.paused',
      key: randomUUID(),
      at: new Date(),
      organizationId,
      lessonId: null,
      learnerId: null,
    },
    data: { organizationId, destinationId: _id, endpoint, httpStatus: status },
  };
  const isPaused = await changeWithEvents(
    db,
    { organizationId, types: ['xapi.paused'] },
    (session) => pauseDestination(db, _id, status, session),
    (changed) => (changed ? [event] : []),
  );
  if (!isPaused) return;
  const about = { destination: _id, organization: organizationId, status };
  log.warn(about, 'an LRS rejects Lectern: its destination is paused until its owner resumes it');
}

/** The specification names 400, 409 and 413. Servers that check bodies against a schema return 422. */
const rejections = [400, 409, 413, 422];

/**
 * Returns the cause of a status: the statements, the destination (such as its credentials or path), or a temporary
 * fault.
 */
function reasonOf(status: number): 'rejected' | 'unavailable' | 'paused' {
  if (rejections.includes(status)) return 'rejected';
  return isUnavailable(status) ? 'unavailable' : 'paused';
}
