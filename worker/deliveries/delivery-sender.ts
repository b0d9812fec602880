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

/** A row by its id, or the row of a target that has been due the longest. */
export type Claim = { id: string } | { target: string };

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

/** A failed attempt, with the engine's plan for the next one. A format may have its own schedule. */
export interface PlannedRetry {
  failure: FailedAttempt;
  delayMs: number;
  maxFailingMs: MaxFailingMs;
  /** The delay in the target's Retry-After header; 0 without one. */
  retryAfterMs: number;
}

/**
 * Defines the deliveries of an outbox: how to find and send its rows, and how to record the end of an attempt. Each
 * `record…` is one atomic write. It returns the updated row; null, without a change, if the lease was lost.
 */
export interface DeliveryFormat<Row extends Delivery, Claimed extends Row, Receipt> {
  /** For logs: `score`. */
  readonly name: string;
  /** Returns the target of a row; null when the row does not exist. */
  findTarget(id: string): Promise<string | null>;
  /** Concurrent deliveries of an owner from the sweep. */
  readonly maxConcurrent: number;
  /** Returns the targets with rows that are due, the longest wait first.  */
  findDueTargets(): Promise<{ target: string; owner: string }[]>;
  /** Leases a row that is due; returns null when there is none. */
  claim(which: Claim): Promise<Claimed | null>;
  /** @throws {DeliveryFault}; the signal's reason. */
  send(row: Claimed, signal: AbortSignal): Promise<Delivered<Receipt>>;
  /** Returns the fault for an error of Lectern itself. */
  internalFault(): DeliveryFault;
  timeoutFault(): DeliveryFault;
  recordSent(row: Claimed, receipt: Receipt, attempt: TimedAttempt): Promise<Row | null>;
  /** Records that the target no longer exists. */
  recordMoot(row: Claimed): Promise<Row | null>;
  /** Records a fault after which the row is not retried. */
  recordFailed(row: Claimed, failure: FailedAttempt, attempt: TimedAttempt): Promise<Row | null>;
  /** Records a fault, and schedules a retry unless the row has been failing for longer than `maxFailingMs`. */
  recordRetry(row: Claimed, retry: PlannedRetry, attempt: TimedAttempt): Promise<Row | null>;
  /** Ends an attempt that sent nothing, and does not count. */
  recordBusy(row: Claimed, delayMs: number): Promise<Row | null>;
  /** Ends an attempt that a shutdown interrupted: its delivery may have arrived. */
  recordAborted(row: Claimed): Promise<Row | null>;
}

interface SenderDependencies<Row extends Delivery> {
  /** Receives the end of each attempt, with the row after it; null if another worker has leased the row meanwhile. */
  onAttempt: (outcome: Outcome, seconds: number, row: Row | null) => void;
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
export class DeliverySender<Row extends Delivery, Claimed extends Row, Receipt> {
  readonly #format: DeliveryFormat<Row, Claimed, Receipt>;
  readonly #deps: SenderDependencies<Row>;
  readonly #limiter = new TargetLimiter();
  /** By owner. */
  readonly #limit: ConcurrencyLimit;
  /** The same for failing targets, whose timeouts delay no delivery to other targets. */
  readonly #probes = new ConcurrencyLimit(probes);
  /** The number of loops that deliver the due rows of a target. */
  readonly #loops = new Map<string, number>();
  /** Targets that had no slot for a row. */
  readonly #skipped = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #abort = new AbortController();
  #closing = false;

  constructor(format: DeliveryFormat<Row, Claimed, Receipt>, deps: SenderDependencies<Row>) {
    this.#format = format;
    this.#deps = deps;
    this.#limit = new ConcurrencyLimit({ concurrent: format.maxConcurrent, inAll: maxInAll });
  }

  /**
   * Delivers a row if it is due, its target has a slot, and no other worker has claimed it. A row without a slot is
   * delivered when one becomes free.
   *
   * @returns the outcome of the attempt; null without one.
   */
  sendRow(id: string): Promise<Outcome | null> {
    return this.#track(async () => {
      const target = await this.#format.findTarget(id);
      if (target === null) return null;
      if (this.#limiter.acquire(target)) return this.#useSlot(target, { id });
      this.#skipped.add(target);
      return null;
    });
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

  /** Returns false when nothing is due, or the target has no slot. */
  async #sendNext(target: string): Promise<boolean> {
    if (this.#closing || !this.#limiter.acquire(target)) return false;
    return (await this.#useSlot(target, { target })) !== null;
  }

  /** Makes one attempt, and always releases the slot. */
  async #useSlot(target: string, which: Claim): Promise<Outcome | null> {
    let result: Result<Receipt> | null = null;
    try {
      const row = this.#closing ? null : await this.#format.claim(which);
      if (row === null) return null;
      const at = new Date();
      const startedAt = performance.now();
      result = await this.#attempt(row);
      const milliseconds = performance.now() - startedAt;
      const ended = await this.#record(row, result, { at, milliseconds: Math.round(milliseconds) });
      this.#deps.onAttempt(result.outcome, milliseconds / 1000, ended);
      return result.outcome;
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
    if (!this.#skipped.delete(target) || this.#closing) return;
    void this.#track(() => this.#sendAllOf(target, target));
  }

  async #attempt(row: Claimed): Promise<Result<Receipt>> {
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

  #faultOf(error: unknown, { _id }: Claimed): DeliveryFault {
    if (isDeliveryFault(error)) return error;
    const { name } = this.#format;
    this.#deps.log.error({ err: error, [name]: _id }, `an internal error kept a ${name} from being sent`);
    return this.#format.internalFault();
  }

  #record(row: Claimed, result: Result<Receipt>, attempt: TimedAttempt): Promise<Row | null> {
    if ('receipt' in result) return this.#format.recordSent(row, result.receipt, attempt);
    if ('fault' in result) return this.#recordFault(row, result.fault, attempt);
    if ('retryInMs' in result) return this.#format.recordBusy(row, result.retryInMs);
    return this.#format.recordAborted(row);
  }

  async #recordFault(row: Claimed, fault: DeliveryFault, attempt: TimedAttempt): Promise<Row | null> {
    const { reason, kind, status, body, message } = fault;
    if (kind.retry === 'moot') return this.#format.recordMoot(row);
    const failure = { at: new Date(), reason, status, body: body ?? message };
    const retryAfterMs = Math.min(fault.retryAfterMs ?? 0, backoff.maxMs);
    const ended =
      kind.retry === 'never'
        ? await this.#format.recordFailed(row, failure, attempt)
        : await this.#format.recordRetry(
            row,
            {
              failure,
              delayMs: Math.round(backoffMs(backoff, row.tries, { retryAfterMs })),
              maxFailingMs: { inAll: weekMs, sameReason: kind.retry === 'week' ? weekMs : quarterHourMs },
              retryAfterMs: fault.retryAfterMs ?? 0,
            },
            attempt,
          );
    const { name } = this.#format;
    const details = { [name]: row._id, reason, status, tries: row.tries + 1 };
    if (ended?.state === 'failed')
      this.#deps.log.warn(details, `a ${name} has failed and will not be retried`);
    else this.#deps.log.info(details, `a ${name} will be retried later`);
    return ended;
  }
}

/** From a receiver nearby to the time limit of an attempt. */
const attemptBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/**
 * Adds this process's attempts to deliver events to a registry; returns a function that counts the attempts of a kind.
 */
export function observeDeliveries(registry: Registry) {
  const attempts = new Histogram({
    name: 'lectern_delivery_tries_seconds',
    help: 'Attempts to deliver events, by kind and outcome: sent, or the reason for the failure.',
    labelNames: ['kind', 'outcome'],
    buckets: attemptBuckets,
    registers: [registry],
  });
  return (kind: EventKind) =>
    (outcome: Outcome, seconds: number): void =>
      attempts.observe({ kind, outcome }, seconds);
}
