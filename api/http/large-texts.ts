import type { ServerResponse } from 'node:http';
import { LecternError } from '../../shared/platform/errors.ts';
import { DelayedRejections, tooMany } from './retry-after.ts';
import { MemoryShares } from './memory-shares.ts';

/** Limits for large JSON texts in one process. */
export interface LargeTextLimits {
  /** Texts up to this size are not limited. */
  smallBytes: number;
  /** The number of concurrently processed texts. The last slot is reserved for an organization that has none. */
  concurrency: number;
  concurrencyPerOrganization: number;
  /** The maximum number of an organization's waiting texts. */
  waitingPerOrganization: number;
  maxWaitMs: number;
  /** Received bytes of the bodies of open requests. */
  bodyBytes: number;
  bodyBytesPerOrganization: number;
  bodyBytesPerLearner: number;
  /** Bytes of the texts that are being processed or sent. */
  textBytes: number;
  textBytesPerOrganization: number;
  /** The long-term rate of an organization, and its allowance beyond that rate. */
  bytesPerSecond: number;
  burstBytes: number;
}

const MiB = 1024 ** 2;

const defaultLimits: LargeTextLimits = {
  smallBytes: 64 * 1024,
  concurrency: 4,
  concurrencyPerOrganization: 2,
  waitingPerOrganization: 32,
  maxWaitMs: 10_000,
  bodyBytes: 16 * MiB,
  bodyBytesPerOrganization: 8 * MiB,
  bodyBytesPerLearner: 2 * MiB,
  textBytes: 32 * MiB,
  textBytesPerOrganization: 16 * MiB,
  bytesPerSecond: 6 * MiB,
  burstBytes: 6 * MiB,
};

/** Seconds after which a client over a limit may retry. */
const retrySeconds = 5;

export interface ArrivingBody {
  /** Identifies the learner whose share the body counts toward. */
  learner: string;
  /** The announced length; 0 without one. */
  announcedBytes: number;
  /** Calls `onArrival` with the number of bytes received so far; rejects with any error that it throws. */
  read: (onArrival: (bytes: number) => void) => Promise<Buffer>;
}

/** The queue of an organization that has running or waiting work, or is ahead of its rate. */
interface WorkQueue {
  running: number;
  waiting: Waiting[];
  /** The time until which the work begun so far uses up its rate; Unix time in milliseconds. */
  busyUntil: number;
  /** When its latest work began. */
  servedAt: number;
}

interface Waiting {
  bytes: number;
  begin(): void;
}

/**
 * Fair scheduling of large JSON texts within one process. Learners' bodies and records take milliseconds to parse, and
 * occupy memory until they are sent. Organizations take turns and have a rate limit each, so none can occupy the
 * process.
 */
export class LargeTexts {
  readonly #limits: LargeTextLimits;
  readonly #queues = new Map<string, WorkQueue>();
  readonly #bodies: MemoryShares;
  readonly #learnerBodies: MemoryShares;
  readonly #texts: MemoryShares;
  readonly #rejections = new DelayedRejections();
  #running = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Partial<LargeTextLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    const { bodyBytes, bodyBytesPerOrganization, textBytes, textBytesPerOrganization } = this.#limits;
    this.#bodies = new MemoryShares(bodyBytes, bodyBytesPerOrganization);
    this.#learnerBodies = new MemoryShares(bodyBytes, this.#limits.bodyBytesPerLearner);
    this.#texts = new MemoryShares(textBytes, textBytesPerOrganization);
  }

  /** Returns the scheduling for one request. @param response counts memory until it closes. */
  share(organizationId: string, response: Pick<ServerResponse, 'closed' | 'once'>): LargeTextShare {
    return new LargeTextShare(this, organizationId, response);
  }

  isSmall(bytes: number): boolean {
    return bytes <= this.#limits.smallBytes;
  }

  /**
   * Reads a body and counts the bytes that have arrived, not those that the client only announces. A body whose
   * announced length does not fit is rejected unread.
   *
   * @returns the body, and a function that releases its memory.
   * @throws {LecternError} TOO_MANY_REQUESTS if learner, organization or process are over their limits; any error of
   * `read`.
   */
  async receive({
    organizationId,
    learner,
    announcedBytes,
    read,
  }: ArrivingBody & { organizationId: string }): Promise<{ body: Buffer; release: () => void }> {
    const ofLearner = this.#learnerBodies.growing(learner);
    const ofOrganization = this.#bodies.growing(organizationId);
    const assertRoom = (bytes: number) => {
      if (!ofLearner.fits(bytes)) throw learnerOverLimit();
      if (!ofOrganization.fits(bytes)) throw overLimit();
    };
    const release = () => {
      ofLearner.release();
      ofOrganization.release();
    };
    try {
      if (!this.isSmall(announcedBytes)) assertRoom(announcedBytes);
      const body = await read((bytes) => {
        if (this.isSmall(bytes)) return;
        assertRoom(bytes);
        ofLearner.growTo(bytes);
        ofOrganization.growTo(bytes);
      });
      return { body, release };
    } catch (error) {
      // Releases the memory before the delay, so that other bodies have room.
      release();
      throw isTooMany(error) ? await this.#rejections.delayed(error) : error;
    }
  }

  /**
   * Waits until work may begin, and counts its memory.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS if the organization's queue is full, or the work waits too long.
   */
  async begin(organizationId: string, bytes: number): Promise<{ end(): void; release(): void }> {
    const queue = this.#queues.get(organizationId) ?? newQueue();
    if (queue.waiting.length >= this.#limits.waitingPerOrganization) {
      throw await this.#rejections.delayed(overLimit());
    }
    this.#queues.set(organizationId, queue);
    const release = await new Promise<() => void>((resolve, reject) => {
      const entry: Waiting = {
        bytes,
        begin: () => {
          clearTimeout(deadline);
          resolve(this.#texts.take(organizationId, bytes));
        },
      };
      const deadline = setTimeout(() => {
        queue.waiting.splice(queue.waiting.indexOf(entry), 1);
        reject(overLimit());
      }, this.#limits.maxWaitMs);
      queue.waiting.push(entry);
      this.#beginNext();
    });
    return {
      release: () => {
        release();
        this.#beginNext();
      },
      end: () => {
        this.#running -= 1;
        queue.running -= 1;
        this.#beginNext();
      },
    };
  }

  /** Begins work of the organization with the fewest running texts; ties go to the one that was served longest ago. */
  #beginNext(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    for (;;) {
      const [next] = [...this.#queues]
        .filter(([organizationId, queue]) => this.#mayBegin(organizationId, queue, now))
        .sort(([, a], [, b]) => a.running - b.running || a.servedAt - b.servedAt);
      if (next === undefined) break;
      const [, queue] = next;
      const entry = queue.waiting.shift();
      queue.running += 1;
      this.#running += 1;
      queue.servedAt = now;
      const cost = ((entry?.bytes ?? 0) / this.#limits.bytesPerSecond) * 1000;
      queue.busyUntil = Math.max(queue.busyUntil, now) + cost;
      entry?.begin();
    }
    this.#scheduleNext(now);
  }

  #mayBegin(organizationId: string, queue: WorkQueue, now: number): boolean {
    const { concurrency, concurrencyPerOrganization } = this.#limits;
    const [first] = queue.waiting;
    const free = concurrency - this.#running;
    return (
      first !== undefined &&
      queue.running < concurrencyPerOrganization &&
      (free > 1 || (free === 1 && queue.running === 0)) &&
      this.#delayOf(queue, now) <= 0 &&
      this.#texts.hasRoom(organizationId, first.bytes)
    );
  }

  /** Returns the milliseconds until the organization's rate allows work. */
  #delayOf({ busyUntil }: WorkQueue, now: number): number {
    const { burstBytes, bytesPerSecond } = this.#limits;
    return busyUntil - now - (burstBytes / bytesPerSecond) * 1000;
  }

  /** Removes idle queues, and sets a timer for the next organization whose rate allows work. */
  #scheduleNext(now: number): void {
    const delays: number[] = [];
    for (const [organizationId, queue] of this.#queues) {
      const isIdle = queue.running === 0 && queue.waiting.length === 0;
      if (isIdle && queue.busyUntil <= now) this.#queues.delete(organizationId);
      const delayMs = isIdle ? queue.busyUntil - now : this.#delayOf(queue, now);
      if (delayMs > 0) delays.push(delayMs);
    }
    if (delays.length > 0) this.#timer = setTimeout(() => this.#beginNext(), Math.min(...delays)).unref();
  }
}

/** Schedules the large texts of one request. */
export class LargeTextShare {
  readonly #texts: LargeTexts;
  readonly #organizationId: string;
  readonly #response: Pick<ServerResponse, 'closed' | 'once'>;

  constructor(texts: LargeTexts, organizationId: string, response: Pick<ServerResponse, 'closed' | 'once'>) {
    this.#texts = texts;
    this.#organizationId = organizationId;
    this.#response = response;
  }

  /**
   * Reads a body and counts its memory until the response is closed.
   *
   * @throws {LecternError} as {@link LargeTexts.receive}.
   */
  async receive(arriving: ArrivingBody): Promise<Buffer> {
    const { body, release } = await this.#texts.receive({
      ...arriving,
      organizationId: this.#organizationId,
    });
    this.#untilClosed(release);
    return body;
  }

  /**
   * Runs work when it is the organization's turn; at once for a small text.
   *
   * @param bytes size of the text in UTF-8.
   * @throws {LecternError} TOO_MANY_REQUESTS as {@link LargeTexts.begin}.
   */
  async run<T>(bytes: number, work: () => T | Promise<T>): Promise<T> {
    if (this.#texts.isSmall(bytes)) return work();
    const turn = await this.#texts.begin(this.#organizationId, bytes);
    try {
      return await work();
    } finally {
      turn.end();
      this.#untilClosed(() => turn.release());
    }
  }

  #untilClosed(release: () => void): void {
    if (this.#response.closed) release();
    else this.#response.once('close', release);
  }
}

function newQueue(): WorkQueue {
  return { running: 0, waiting: [], busyUntil: 0, servedAt: 0 };
}

function learnerOverLimit(): LecternError {
  return tooMany('Too much data sent at once by this learner', retrySeconds);
}

function overLimit(): LecternError {
  return tooMany('Too much data requested at once', retrySeconds);
}

function isTooMany(error: unknown): error is LecternError {
  return error instanceof LecternError && error.code === 'TOO_MANY_REQUESTS';
}
