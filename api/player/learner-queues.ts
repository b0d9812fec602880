import { LRUCache } from 'lru-cache';
import { LecternError } from '../../shared/platform/errors.ts';
import { DelayedRejections, tooMany } from '../http/retry-after.ts';

/** Limits per learner in a process. */
export interface LearnerLimits {
  /** The number of requests that are processed concurrently. */
  concurrency: number;
  /** The maximum number of waiting requests. */
  waiting: number;
  /** The long-term rate of requests, and the maximum burst. */
  perSecond: number;
  burst: number;
}

/**
 * A page that is closed sends all its writes at once, on one connection or six. An open page sends a few writes per
 * second at most.
 */
const defaultLimits: LearnerLimits = { concurrency: 2, waiting: 16, perSecond: 20, burst: 40 };

/** The maximum number of a learner's requests that a process holds. */
export const maxLearnerRequests = defaultLimits.concurrency + defaultLimits.waiting;

/** The Retry-After of learners over the limit. */
const retryAfterSeconds = 2;

/** The number of large records whose size the process remembers; it forgets the least recently used ones. */
const maxRememberedSizes = 10_000;

/** A learner's requests in this process. */
interface Queue {
  running: number;
  /** Requests with a slot. */
  open: number;
  /** Each starts a waiting request; in the order of arrival. */
  waiting: (() => void)[];
  /** Each wakes a request that has yielded its turn; called when a turn ends. */
  paused: Set<() => void>;
  /** Unix time in milliseconds at which the rate limit has covered all started requests. */
  busyUntil: number;
  /** Size of the learner's record at the last read; 0 if unknown. */
  recordBytes: number;
}

/**
 * A bounded queue for each learner, so that no learner can occupy the process: a few session requests are processed at
 * once, a few wait, and the others get 429.
 */
export class LearnerQueues {
  readonly #limits: LearnerLimits;
  readonly #queues = new Map<string, Queue>();
  readonly #recordBytes = new LRUCache<string, number>({ max: maxRememberedSizes });
  readonly #rejections = new DelayedRejections();

  constructor(limits: LearnerLimits = defaultLimits) {
    this.#limits = limits;
  }

  /**
   * Gives a request a slot. The caller must always leave it.
   *
   * @param learner identifies the record.
   * @throws {LecternError} TOO_MANY_REQUESTS if the queue is full.
   */
  async enter(learner: string): Promise<QueueSlot> {
    const queue = this.#queues.get(learner) ?? newQueue(this.#recordBytes.get(learner));
    if (queue.open >= this.#limits.concurrency + this.#limits.waiting) {
      throw await this.#rejections.delayed(
        tooMany('Too many concurrent requests from this learner', retryAfterSeconds),
      );
    }
    this.#queues.set(learner, queue);
    queue.open += 1;
    return new QueueSlot(queue, this.#limits, () => this.#onLeave(learner, queue));
  }

  /** Keeps the queue until the learner's rate limit has recovered. */
  #onLeave(learner: string, queue: Queue): void {
    queue.open -= 1;
    if (queue.recordBytes > 0) this.#recordBytes.set(learner, queue.recordBytes);
    else this.#recordBytes.delete(learner);
    const forget = () => {
      if (queue.open === 0 && this.#queues.get(learner) === queue) this.#queues.delete(learner);
    };
    const left = queue.busyUntil - Date.now();
    if (left <= 0) forget();
    else setTimeout(forget, left).unref();
  }
}

function newQueue(recordBytes = 0): Queue {
  return { running: 0, open: 0, waiting: [], paused: new Set(), busyUntil: 0, recordBytes };
}

/** A request's slot in its learner's queue. */
export class QueueSlot {
  readonly #queue: Queue;
  readonly #limits: LearnerLimits;
  readonly #onLeave: () => void;
  #isRunning = false;
  /** True from the wait for a turn until {@link QueueSlot.workDone}. */
  #isWorking = false;
  #hasLeft = false;

  constructor(queue: Queue, limits: LearnerLimits, onLeave: () => void) {
    this.#queue = queue;
    this.#limits = limits;
    this.#onLeave = onLeave;
  }

  /** Size of the learner's record at the last read; 0 if it is small or unknown. */
  get recordBytes(): number {
    return this.#queue.recordBytes;
  }

  set recordBytes(bytes: number) {
    this.#queue.recordBytes = bytes;
  }

  /**
   * Resolves when it is this request's turn. {@link QueueSlot.workDone} must follow. The request of a client that
   * disconnects keeps its slot until then: its write is still stored, and disconnecting does not avoid the limit.
   *
   * @throws {LecternError} BAD_REQUEST if the client has already disconnected.
   */
  async waitForTurn(): Promise<void> {
    if (this.#hasLeft) throw new LecternError('BAD_REQUEST', 'The client closed the connection');
    const { perSecond, burst } = this.#limits;
    this.#isWorking = true;
    await this.#takeTurn();
    const now = Date.now();
    this.#queue.busyUntil = Math.max(this.#queue.busyUntil, now) + 1000 / perSecond;
    const wait = this.#queue.busyUntil - now - (burst * 1000) / perSecond;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }

  /** Yields the turn to other requests until one of them ends or the time is over, then waits for another turn. */
  async yieldTurn(timeoutMs: number): Promise<void> {
    this.#passTurn();
    const { paused } = this.#queue;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        paused.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      paused.add(wake);
    });
    await this.#takeTurn();
  }

  /** Marks the request's work as finished. The turn ends when the response is closed, too. */
  workDone(): void {
    this.#isWorking = false;
    if (this.#hasLeft) this.#end();
  }

  /** Marks the response as closed. The turn ends when the work is finished, too. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (!this.#isWorking) this.#end();
  }

  #end(): void {
    if (this.#isRunning) {
      this.#passTurn();
      for (const wake of [...this.#queue.paused]) wake();
    }
    this.#onLeave();
  }

  async #takeTurn(): Promise<void> {
    if (this.#queue.running < this.#limits.concurrency) this.#queue.running += 1;
    else await new Promise<void>((resolve) => this.#queue.waiting.push(resolve));
    this.#isRunning = true;
  }

  /** Passes the turn to the next waiting request. */
  #passTurn(): void {
    this.#isRunning = false;
    const next = this.#queue.waiting.shift();
    if (next === undefined) this.#queue.running -= 1;
    else next();
  }
}
