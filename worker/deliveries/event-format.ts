import type { LookupFunction } from 'node:net';
import { DeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import type { FaultKind } from '../../shared/deliveries/delivery-fault.ts';
import type { FailedAttempt } from '../../shared/deliveries/outbox.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  claimEventDelivery,
  endEventAttempt,
  findDueEventTargets,
  releaseEventDeliveries,
} from '../../shared/models/event-delivery.ts';
import type { ClaimedDelivery, DeliveryAttempt, EventKind } from '../../shared/models/event-delivery.ts';
import { OutboundError } from '../../shared/platform/errors.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { privateHostsOf } from '../../shared/webhooks/receiver-url.ts';
import { requestReceiver } from '../../shared/webhooks/receiver-request.ts';
import type { ReceiverRequest, ReceiverResponse } from '../../shared/webhooks/receiver-request.ts';
import type { ReceiverConfig } from '../../shared/webhooks/receiver-url.ts';
import type { Delivered, DeliveryFormat, TimedAttempt } from './delivery-sender.ts';
import { isSuccess } from '../../shared/platform/http/request.ts';

/* The common part of event deliveries. Webhooks and xAPI statements are its formats. */

export interface EventDependencies {
  db: Database;
  secrets: Pick<Secrets, 'keyPepper'>;
  config: ReceiverConfig;
  log: Logger;
  /** Resolves the host names of receivers; by default, the system does. */
  lookup?: LookupFunction;
}

export type EventReceipt = Pick<ReceiverResponse, 'status' | 'text'>;
export type EventFormat = DeliveryFormat<ClaimedDelivery, EventReceipt>;

/** The reasons why an event was not delivered, with the texts for its owner. */
const commonFaults = {
  timeout: { retry: 'week', target: 'failing' },
  network: { retry: 'week', target: 'failing' },
  blocked_address: { retry: 'week', target: 'failing' },
  unavailable: { retry: 'week', target: 'failing' },
  removed: { retry: 'moot', target: 'unknown' },
  internal_error: { retry: 'week', target: 'unknown' },
} as const satisfies Record<string, FaultKind>;
type CommonReason = keyof typeof commonFaults;

/** Creates a fault, with the target's response if there is one. */
type CreateFault<Reason extends string> = (
  reason: Reason | CommonReason,
  message: string,
  response?: { status?: number; body?: string; retryAfter?: string | null },
) => DeliveryFault;

/** Returns the function that creates a format's faults: those of all formats, and its own. */
export function faultsOf<Own extends Record<string, FaultKind>>(own: Own): CreateFault<keyof Own & string> {
  const kinds: Record<string, FaultKind> = { ...commonFaults, ...own };
  return (reason, message, response) =>
    new DeliveryFault(reason, kinds[reason] ?? commonFaults.internal_error, message, response);
}

/** The differences between the formats. */
interface EventFormatOptions extends Pick<EventFormat, 'name' | 'maxConcurrent'> {
  kind: EventKind;
  /** The subject of messages: `The LRS`. */
  receiver: string;
  fault: CreateFault<never>;
  send(row: ClaimedDelivery, signal: AbortSignal): Promise<Delivered<EventReceipt>>;
  /** Returns the delay before the next attempt; null after the last one. */
  delayMsOf: (row: ClaimedDelivery, failure: FailedAttempt, retryAfterMs: number) => number | null;
}

/** Returns the format of a kind of events. */
export function eventFormat(
  { db }: { db: Database },
  { kind, receiver, fault, delayMsOf, ...options }: EventFormatOptions,
): EventFormat {
  const failedAttempt = (failure: FailedAttempt, attempt: TimedAttempt): DeliveryAttempt => {
    const { status, body, reason } = failure;
    // Without a response, the body is the message of the fault.
    if (status === null) return { ...attempt, status, error: body ?? reason, response: null };
    const about = isSuccess(status) ? ', but not what it should return' : '';
    return { ...attempt, status, error: `${receiver} returned ${status}${about}`, response: body };
  };
  return {
    ...options,
    findDueTargets: () => findDueEventTargets(db, kind),
    claim: (target) => claimEventDelivery(db, kind, target),
    internalFault: () => fault('internal_error', 'A fault of Lectern; see its log'),
    timeoutFault: () => fault('timeout', `${receiver} took too long`),
    async record(row, end, attempt) {
      switch (end.to) {
        case 'delivered': {
          const { status, text: response } = end.receipt;
          return endEventAttempt(db, row, { to: 'delivered' }, { ...attempt, status, error: null, response });
        }
        case 'dismissed':
          return endEventAttempt(db, row, end, null);
        case 'failed':
          return endEventAttempt(db, row, end, failedAttempt(end.failure, attempt));
        case 'retried': {
          const { failure, retryAfterMs } = end;
          const delayMs = delayMsOf(row, failure, retryAfterMs);
          const next =
            delayMs === null
              ? { to: 'failed' as const, failure }
              : { to: 'waiting' as const, delayMs, failure };
          return endEventAttempt(db, row, next, failedAttempt(failure, attempt));
        }
        case 'postponed':
          await releaseEventDeliveries(db, [row], end.delayMs);
          return row;
        case 'given back':
          await releaseEventDeliveries(db, [row], 0);
          return row;
      }
    },
  };
}

/** Returns whether a status shows a temporary fault of the receiver, not a fault of the request. */
export function isUnavailable(status: number): boolean {
  return status >= 500 || [408, 425, 429].includes(status);
}

/**
 * Posts JSON to the receiver of a tenant.
 *
 * @param request.reasonOf returns the reason of the fault for a status that is not a success.
 * @throws {DeliveryFault}; the signal's reason.
 */
export async function postEvent<Reason extends string>(
  url: URL,
  {
    config,
    receiver,
    fault,
    reasonOf,
    ...request
  }: Omit<ReceiverRequest, 'privateHosts'> & {
    config: ReceiverConfig;
    receiver: string;
    fault: CreateFault<Reason>;
    reasonOf: (status: number) => Reason | CommonReason;
  },
): Promise<EventReceipt> {
  let response: ReceiverResponse;
  try {
    response = await requestReceiver(url, { ...request, privateHosts: privateHostsOf(url, config) });
  } catch (error) {
    if (error instanceof OutboundError) throw fault(error.reason, error.message);
    throw error;
  }
  const { status, text, retryAfter } = response;
  if (isSuccess(status)) return response;
  throw fault(reasonOf(status), `${receiver} returned ${status}`, { status, body: text, retryAfter });
}
