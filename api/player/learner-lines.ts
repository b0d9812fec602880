import { LRUCache } from 'lru-cache';
import { LecternError } from '../../shared/platform/errors.ts';
import { tooMany } from '../http/retry-after.ts';
import { DelayedRejections } from '../http/delayed-rejections.ts';

/** What one learner may take of a process. */
export interface LearnerLimits {
  /** Requests that are processed at once. */
  atOnce: number;
  /** Requests that wait behind them. */
  waiting: number;
  /** Requests that are begun in a second in the long run, and how many may come together. */
  perSecond: number;
  burst: number;
}

/**
 * A page that is closed sends all that it has at once, on six connections or one; while it is open it sends a few
 * writes a second at most.
 */
const defaultLimits: LearnerLimits = { atOnce: 2, waiting: 16, perSecond: 20, burst: 40 };

/** Requests of one learner that can be here at once. */
export const mostRequests = defaultLimits.atOnce + defaultLimits.waiting;

/** Seconds after which a learner over the limit may come again. */
const retrySeconds = 2;

/** Learners whose records are remembered to be large; the ones seen longest ago are forgotten. */
const mostRemembered = 10_000;

/** A learner's requests in this process, one after the other. */
interface Line {
  running: number;
  /** Requests that were let in and have not left. */
  open: number;
  /** Resolve in their order, each when it is its turn. */
  waiting: (() => void)[];
  /** Called when a turn ends: paused requests then look again. */
  paused: Set<() => void>;
  /** Unix time in milliseconds up to which the requests begun so far take the learner's rate. */
  busyUntil: number;
  /** Bytes of the learner's record as it was read last; 0 when nobody knows. */
  recordBytes: number;
}

/**
 * A bounded queue for each learner: a few requests to the session are processed at once, a few wait, and others get
 * 429, so that no learner can occupy the process.
 */
export class LearnerLines {
  readonly #limits: LearnerLimits;
  readonly #lines = new Map<string, Line>();
  readonly #recordBytes = new LRUCache<string, number>({ max: mostRemembered });
  readonly #rejections = new DelayedRejections();

  constructor(limits: LearnerLimits = defaultLimits) {
    this.#limits = limits;
  }

  /**
   * Lets a request in. Its place has to be left in any case.
   *
   * @param learner names the record.
   * @throws {LecternError} TOO_MANY_REQUESTS when as many wait as may.
   */
  async enter(learner: string): Promise<LinePlace> {
    const line = this.#lines.get(learner) ?? newLine(this.#recordBytes.get(learner));
    if (line.open >= this.#limits.atOnce + this.#limits.waiting) {
      throw await this.#rejections.delayed(
        tooMany('Too many concurrent requests from this learner', retrySeconds),
      );
    }
    this.#lines.set(learner, line);
    line.open += 1;
    return new LinePlace(line, this.#limits, () => this.#left(learner, line));
  }

  /** A line is kept until its learner's rate is free again. */
  #left(learner: string, line: Line): void {
    line.open -= 1;
    if (line.recordBytes > 0) this.#recordBytes.set(learner, line.recordBytes);
    else this.#recordBytes.delete(learner);
    const forget = () => {
      if (line.open === 0 && this.#lines.get(learner) === line) this.#lines.delete(learner);
    };
    const left = line.busyUntil - Date.now();
    if (left <= 0) forget();
    else setTimeout(forget, left).unref();
  }
}

function newLine(recordBytes = 0): Line {
  return { running: 0, open: 0, waiting: [], paused: new Set(), busyUntil: 0, recordBytes };
}

/** A request's place in its learner's line. */
export class LinePlace {
  readonly #line: Line;
  readonly #limits: LearnerLimits;
  readonly #left: () => void;
  #isRunning = false;
  /** From the wait for a turn to {@link LinePlace.done}. */
  #works = false;
  #hasLeft = false;

  constructor(line: Line, limits: LearnerLimits, left: () => void) {
    this.#line = line;
    this.#limits = limits;
    this.#left = left;
  }

  /** Bytes of the learner's record as it was read last; 0 when it is small, or nobody knows. */
  get recordBytes(): number {
    return this.#line.recordBytes;
  }

  set recordBytes(bytes: number) {
    this.#line.recordBytes = bytes;
  }

  /**
   * Resolves when it is this request's turn. {@link LinePlace.done} has to follow. A client that disconnects in the
   * meantime keeps its place until then: what it sent is still recorded, and it cannot bring more by leaving early.
   *
   * @throws {LecternError} BAD_REQUEST when the client has disconnected before.
   */
  async turn(): Promise<void> {
    if (this.#hasLeft) throw new LecternError('BAD_REQUEST', 'The client closed the connection');
    const { perSecond, burst } = this.#limits;
    this.#works = true;
    await this.#take();
    const now = Date.now();
    this.#line.busyUntil = Math.max(this.#line.busyUntil, now) + 1000 / perSecond;
    const wait = this.#line.busyUntil - now - (burst * 1000) / perSecond;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }

  /** Gives the turn to others until one of theirs has ended, or for some time, and takes the next one. */
  async pause(ms: number): Promise<void> {
    this.#give();
    const { paused } = this.#line;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        paused.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      paused.add(wake);
    });
    await this.#take();
  }

  /** Notes that the request's work is over. It keeps its turn until the response is sent as well. */
  done(): void {
    this.#works = false;
    if (this.#hasLeft) this.#end();
  }

  /** Ends the turn as soon as the work is over, too, and makes room for the next request. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (!this.#works) this.#end();
  }

  #end(): void {
    if (this.#isRunning) {
      this.#give();
      for (const wake of [...this.#line.paused]) wake();
    }
    this.#left();
  }

  async #take(): Promise<void> {
    if (this.#line.running < this.#limits.atOnce) this.#line.running += 1;
    else await new Promise<void>((resolve) => this.#line.waiting.push(resolve));
    this.#isRunning = true;
  }

  /** Whoever waits next takes the turn over. */
  #give(): void {
    this.#isRunning = false;
    const next = this.#line.waiting.shift();
    if (next === undefined) this.#line.running -= 1;
    else next();
  }
}
