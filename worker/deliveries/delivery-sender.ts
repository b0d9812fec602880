import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import { isDeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import type { DeliveryFault } from '../../shared/deliveries/delivery-fault.ts';
import { attemptTimeoutMs } from '../../shared/deliveries/outbox.ts';
import type { Delivery, FailedAttempt, MaxFailingMs } from '../../shared/deliveries/outbox.ts';
import { backoffMs } from '../../shared/platform/backoff.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';
import { withTimeLimit } from '../../shared/platform/time-limits.ts';
import { maxPerTarget, TargetLimiter } from './target-limiter.ts';
import type { EventKind } from '../../shared/models/event-delivery.ts';

/** The backoff between the attempts of a row. */
const backoff = { firstMs: 2_000, maxMs: 3600_000 };

const weekMs = 7 * 24 * 3600_000;
const quarterHourMs = 15 * 60_000;

/** Concurrent deliveries in this process. More would only be needed if many owners had hanging targets. */
const maxInAll = 256;

/** Concurrent deliveries to the failing targets of an owner, and of all. */
const probes = { concurrent: 4, inAll: 64 };

/** `sent`, the reason of a fault, `given_back` at a shutdown, or a word of the format if nothing was sent. */
export type Outcome = string;

/** The result of a successful attempt, or of one that sent nothing. */
export type Delivered<Receipt> =
  | { outcome: 'sent'; receipt: Receipt }
  /** The row was not sent: another process is preparing the target, or a fault stopped the rows before it. */
  | { outcome: Outcome; retryInMs: number; stoppedBy?: DeliveryFault | null };

/** When an attempt began, by this process's clock, and how long it took. */
export interface TimedAttempt {
  at: Date;
  milliseconds: number;
}

/** How an attempt ended. A format may have its own schedule of retries. */
export type AttemptEnd<Receipt> =
  | { to: 'delivered'; receipt: Receipt }
  | FaultEnd
  /** Nothing was sent. */
  | { to: 'postponed'; delayMs: number }
  /** A shutdown interrupted the attempt: its delivery may have arrived. */
  | { to: 'given back' };

type FaultEnd =
  /** There is no target any more. */
  { to: 'dismissed' } | { to: 'failed'; failure: FailedAttempt } | PlannedRetry;

/** A retry as the engine plans it, unless the row has been failing for longer than `maxFailingMs`. */
export interface PlannedRetry {
  to: 'retried';
  failure: FailedAttempt;
  delayMs: number;
  maxFailingMs: MaxFailingMs;
  /** The delay in the target's Retry-After header; 0 without one. */
  retryAfterMs: number;
}

/** Defines the deliveries of an outbox: how to find and send its rows, and how to record the end of an attempt. */
export interface DeliveryFormat<Row extends Delivery, Receipt> {
  /** For logs: `score`. */
  readonly name: string;
  /** Concurrent deliveries of an owner. */
  readonly maxConcurrent: number;
  /** Returns the targets with rows that are due, the longest wait first.  */
  findDueTargets(): Promise<{ target: string; owner: string }[]>;
  /** Leases the row of a target that has been due the longest; returns null when there is none. */
  claim(target: string): Promise<Row | null>;
  /** @throws {DeliveryFault}; the signal's reason. */
  send(row: Row, signal: AbortSignal): Promise<Delivered<Receipt>>;
  /** Returns the fault for an error of Lectern itself. */
  internalFault(): DeliveryFault;
  timeoutFault(): DeliveryFault;
  /**
   * Records the end of an attempt in one atomic write, unless the lease was lost. Returns the state after it, which matters
   * after a failure; null if the row was not found.
   */
  record(row: Row, end: AttemptEnd<Receipt>, attempt: TimedAttempt): Promise<Pick<Row, 'state'> | null>;
}

interface SenderDependencies {
  /** Receives the end of each attempt. */
  onAttempt: (outcome: Outcome, seconds: number) => void;
  log: Logger;
}

type Result<Receipt> =
  | Delivered<Receipt>
  | { outcome: 'given_back' }
  | { outcome: Outcome; fault: DeliveryFault };

/**
 * Delivers the rows of an outbox that are due. A worker claims a row only with a slot of its target, so rows of a
 * paused target cost nothing.
 */
export class DeliverySender<Row extends Delivery, Receipt> {
  readonly #format: DeliveryFormat<Row, Receipt>;
  readonly #deps: SenderDependencies;
  readonly #limiter = new TargetLimiter();
  /** By owner. */
  readonly #limit: ConcurrencyLimit;
  /** The same for failing targets, whose timeouts delay no delivery to other targets. */
  readonly #probes = new ConcurrencyLimit(probes);
  /** The number of loops that deliver the due rows of a target. */
  readonly #loops = new Map<string, number>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #abort = new AbortController();
  #closing = false;

  constructor(format: DeliveryFormat<Row, Receipt>, deps: SenderDependencies) {
    this.#format = format;
    this.#deps = deps;
    this.#limit = new ConcurrencyLimit({ concurrent: format.maxConcurrent, inAll: maxInAll });
  }

  /** Delivers all due rows to targets that are not paused, concurrently by target. */
  sendDue(): Promise<void> {
    return this.#track(async () => {
      if (this.#closing) return;
      const due = await this.#format.findDueTargets();
      await Promise.all(due.map(({ target, owner }) => this.#sendAllOf(target, owner)));
    });
  }

  /**
   * Stops starting deliveries, and resolves when none is in progress.
   *
   * @param timeoutMs after which running attempts are aborted; other workers deliver those rows.
   */
  async close(timeoutMs: number): Promise<void> {
    this.#closing = true;
    const timer = setTimeout(() => this.#abort.abort(new Error('this process ends')), timeoutMs);
    await Promise.allSettled(this.#running);
    clearTimeout(timer);
  }

  async #track<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Starts a loop for each slot of a target that has none yet; resolves when these loops end. */
  async #sendAllOf(target: string, owner: string): Promise<void> {
    const missing = maxPerTarget - (this.#loops.get(target) ?? 0);
    await Promise.all(Array.from({ length: missing }, () => this.#sendUntilDone(target, owner)));
  }

  async #sendUntilDone(target: string, owner: string): Promise<void> {
    const count = (change: number) => {
      const loops = (this.#loops.get(target) ?? 0) + change;
      if (loops > 0) this.#loops.set(target, loops);
      else this.#loops.delete(target);
    };
    count(1);
    try {
      const limit = () => (this.#limiter.isFailing(target) ? this.#probes : this.#limit);
      while (await limit().run(owner, undefined, () => this.#sendNext(target)));
    } catch (error) {
      const { name } = this.#format;
      this.#deps.log.warn({ err: error, target }, `${name}s are not sent now; the next sweep sends them`);
    } finally {
      count(-1);
    }
  }

  /** Makes one attempt. Returns false when nothing is due, or the target has no slot. */
  async #sendNext(target: string): Promise<boolean> {
    if (this.#closing || !this.#limiter.acquire(target)) return false;
    let result: Result<Receipt> | null = null;
    try {
      const row = await this.#format.claim(target);
      if (row === null) return false;
      const at = new Date();
      const startedAt = performance.now();
      result = await this.#attempt(row);
      const milliseconds = performance.now() - startedAt;
      await this.#record(row, result, { at, milliseconds: Math.round(milliseconds) });
      this.#deps.onAttempt(result.outcome, milliseconds / 1000);
      return true;
    } finally {
      this.#releaseSlot(target, result);
    }
  }

  #releaseSlot(target: string, result: Result<Receipt> | null): void {
    let fault: DeliveryFault | null = null;
    if (result !== null && 'fault' in result) ({ fault } = result);
    else if (result !== null && 'stoppedBy' in result) fault = result.stoppedBy ?? null;
    const health = result?.outcome === 'sent' ? 'healthy' : (fault?.kind.target ?? 'unknown');
    this.#limiter.release(target, health, fault?.retryAfterMs ?? 0);
  }

  async #attempt(row: Row): Promise<Result<Receipt>> {
    const late = () => this.#format.timeoutFault();
    const limit = { timeoutMs: attemptTimeoutMs, signal: this.#abort.signal, late };
    try {
      return await withTimeLimit(limit, (signal) => this.#format.send(row, signal));
    } catch (error) {
      if (this.#abort.signal.aborted) return { outcome: 'given_back' };
      const fault = this.#faultOf(error, row);
      return { outcome: fault.reason, fault };
    }
  }

  #faultOf(error: unknown, { _id }: Row): DeliveryFault {
    if (isDeliveryFault(error)) return error;
    const { name } = this.#format;
    this.#deps.log.error({ err: error, [name]: _id }, `an internal error kept a ${name} from being sent`);
    return this.#format.internalFault();
  }

  async #record(row: Row, result: Result<Receipt>, attempt: TimedAttempt): Promise<void> {
    const end = endOf(result, row.tries);
    const ended = await this.#format.record(row, end, attempt);
    if (end.to !== 'failed' && end.to !== 'retried') return;
    const { name } = this.#format;
    const { reason, status } = end.failure;
    const details = { [name]: row._id, reason, status, tries: row.tries + 1 };
    if (ended?.state === 'failed')
      this.#deps.log.warn(details, `a ${name} has failed and will not be retried`);
    else this.#deps.log.info(details, `a ${name} will be retried later`);
  }
}

function endOf<Receipt>(result: Result<Receipt>, tries: number): AttemptEnd<Receipt> {
  if ('receipt' in result) return { to: 'delivered', receipt: result.receipt };
  if ('fault' in result) return endOfFault(result.fault, tries);
  return 'retryInMs' in result ? { to: 'postponed', delayMs: result.retryInMs } : { to: 'given back' };
}

/** Returns how an attempt ends that failed with a fault. @param tries the failed attempts before it */
export function endOfFault(fault: DeliveryFault, tries: number): FaultEnd {
  const { reason, kind, status, body, message } = fault;
  if (kind.retry === 'moot') return { to: 'dismissed' };
  const failure = { at: new Date(), reason, status, body: body ?? message };
  if (kind.retry === 'never') return { to: 'failed', failure };
  const retryAfterMs = fault.retryAfterMs ?? 0;
  const limited = { retryAfterMs: Math.min(retryAfterMs, backoff.maxMs) };
  return {
    ...{ to: 'retried', failure, retryAfterMs },
    delayMs: Math.round(backoffMs(backoff, tries, limited)),
    maxFailingMs: { inAll: weekMs, sameReason: kind.retry === 'week' ? weekMs : quarterHourMs },
  };
}

/** From a receiver nearby to the time limit of an attempt. */
const attemptBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/**
 * Adds this process's attempts to deliver grades and events to a registry; returns a function that counts those of a kind.
 */
export function observeDeliveries(registry: Registry) {
  const attempts = new Histogram({
    name: 'lectern_delivery_tries_seconds',
    help: 'Attempts to deliver grades and events, by kind and outcome: sent, or the reason for the failure.',
    labelNames: ['kind', 'outcome'],
    buckets: attemptBuckets,
    registers: [registry],
  });
  return (kind: EventKind | 'grade') =>
    (outcome: Outcome, seconds: number): void =>
      attempts.observe({ kind, outcome }, seconds);
}
