import type { ServerResponse } from 'node:http';
import { LecternError } from '../../shared/platform/errors.ts';
import { MemoryShares } from './memory-shares.ts';
import { tooMany } from './retry-after.ts';
import { setTimeout as delay } from 'node:timers/promises';

const slowLimits = { pauseMs: 1000, most: 1000 };

/**
 * Holds refusals back for a moment. A client that asks again as soon as it is refused would otherwise take more of the
 * process than one that is served.
 */
export class DelayedRejections {
  readonly #limits: { pauseMs: number; most: number };
  #waiting = 0;

  /** @param limits.most refusals that are held back at once; further ones are sent at once. */
  constructor(limits: { pauseMs: number; most: number } = slowLimits) {
    this.#limits = limits;
  }

  /** Resolves with the refusal when it is time to throw it. */
  async after<Refusal extends Error>(refusal: Refusal): Promise<Refusal> {
    if (this.#waiting >= this.#limits.most) return refusal;
    this.#waiting += 1;
    await delay(this.#limits.pauseMs);
    this.#waiting -= 1;
    return refusal;
  }
}

/** Limits for large JSON texts in one process. */
export interface LargeTextLimits {
  /** A text up to so many bytes is not counted. */
  smallBytes: number;
  /** Texts that are worked on at once, in all and of one organization. The last slot is for one that holds none. */
  atOnce: number;
  atOncePerOrganization: number;
  /** Work of one organization that waits, and for how long. */
  waitingPerOrganization: number;
  waitMs: number;
  /** Bytes that have arrived of bodies whose requests are under way: in all, of one organization, of one learner. */
  bodyBytes: number;
  bodyBytesPerOrganization: number;
  bodyBytesPerLearner: number;
  /** Bytes of texts that are worked on or sent, in all and of one organization. */
  textBytes: number;
  textBytesPerOrganization: number;
  /** Bytes a second that one organization may have worked on in the long run, and how many at once. */
  bytesPerSecond: number;
  burstBytes: number;
}

const MiB = 1024 ** 2;

const defaultLimits: LargeTextLimits = {
  smallBytes: 64 * 1024,
  atOnce: 4,
  atOncePerOrganization: 2,
  waitingPerOrganization: 32,
  waitMs: 10_000,
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
  /** Names the learner whose share it counts towards. */
  learner: string;
  /** Its length as the client announces it; 0 where it does not. */
  announcedBytes: number;
  /** Calls `onArrival` with the bytes that have arrived so far, and rejects with what that throws. */
  read: (onArrival: (bytes: number) => void) => Promise<Buffer>;
}

/** An organization that has something running or waiting, or whose rate is not free yet. */
interface Line {
  running: number;
  waiting: Waiting[];
  /** Unix time in milliseconds up to which the work begun so far takes the organization's rate. */
  busyUntil: number;
  /** When its last work began. */
  servedAt: number;
}

interface Waiting {
  bytes: number;
  begin(): void;
}

/**
 * Fair shares of one process for large JSON texts: bodies and records of learners take milliseconds to parse, and
 * memory until they are sent. Organizations take turns, each has a rate, and none can fill the process.
 */
export class LargeTexts {
  readonly #limits: LargeTextLimits;
  readonly #lines = new Map<string, Line>();
  readonly #bodies: MemoryShares;
  readonly #learnerBodies: MemoryShares;
  readonly #texts: MemoryShares;
  readonly #refusals = new DelayedRejections();
  #running = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Partial<LargeTextLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    const { bodyBytes, bodyBytesPerOrganization, textBytes, textBytesPerOrganization } = this.#limits;
    this.#bodies = new MemoryShares(bodyBytes, bodyBytesPerOrganization);
    this.#learnerBodies = new MemoryShares(bodyBytes, this.#limits.bodyBytesPerLearner);
    this.#texts = new MemoryShares(textBytes, textBytesPerOrganization);
  }

  /** @param response memory is counted until it is closed. */
  share(organizationId: string, response: Pick<ServerResponse, 'closed' | 'once'>): LargeTextShare {
    return new LargeTextShare(this, organizationId, response);
  }

  isSmall(bytes: number): boolean {
    return bytes <= this.#limits.smallBytes;
  }

  /**
   * Reads a body, and counts the memory of what has arrived of it, never of what a client only announces. Where there
   * is no room for what it announces, it is refused before it is read.
   *
   * @returns the body, and a function that releases its memory.
   * @throws {LecternError} TOO_MANY_REQUESTS where the learner, the organization or the process holds as much as it
   * may; and what `read` throws.
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
      if (!ofLearner.fits(bytes)) throw tooMuchOfLearner();
      if (!ofOrganization.fits(bytes)) throw tooMuch();
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
      // At once, so that the other bodies which arrive have room.
      release();
      throw isTooMany(error) ? await this.#refusals.after(error) : error;
    }
  }

  /**
   * Waits for the turn of some work, and counts its memory.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS where too much work of the organization waits, or it waits too long.
   */
  async begin(organizationId: string, bytes: number): Promise<{ end(): void; release(): void }> {
    const line = this.#lines.get(organizationId) ?? newLine();
    if (line.waiting.length >= this.#limits.waitingPerOrganization) {
      throw await this.#refusals.after(tooMuch());
    }
    this.#lines.set(organizationId, line);
    const release = await new Promise<() => void>((resolve, reject) => {
      const entry: Waiting = {
        bytes,
        begin: () => {
          clearTimeout(deadline);
          resolve(this.#texts.take(organizationId, bytes));
        },
      };
      const deadline = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(entry), 1);
        reject(tooMuch());
      }, this.#limits.waitMs);
      line.waiting.push(entry);
      this.#beginNext();
    });
    return {
      release: () => {
        release();
        this.#beginNext();
      },
      end: () => {
        this.#running -= 1;
        line.running -= 1;
        this.#beginNext();
      },
    };
  }

  /** Begins the work of the organization with the fewest running texts; of several, the one served longest ago. */
  #beginNext(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    for (;;) {
      const [next] = [...this.#lines]
        .filter(([organizationId, line]) => this.#mayBegin(organizationId, line, now))
        .sort(([, a], [, b]) => a.running - b.running || a.servedAt - b.servedAt);
      if (next === undefined) break;
      const [, line] = next;
      const entry = line.waiting.shift();
      line.running += 1;
      this.#running += 1;
      line.servedAt = now;
      const cost = ((entry?.bytes ?? 0) / this.#limits.bytesPerSecond) * 1000;
      line.busyUntil = Math.max(line.busyUntil, now) + cost;
      entry?.begin();
    }
    this.#scheduleNext(now);
  }

  #mayBegin(organizationId: string, line: Line, now: number): boolean {
    const { atOnce, atOncePerOrganization } = this.#limits;
    const [first] = line.waiting;
    const free = atOnce - this.#running;
    return (
      first !== undefined &&
      line.running < atOncePerOrganization &&
      (free > 1 || (free === 1 && line.running === 0)) &&
      this.#pauseOf(line, now) <= 0 &&
      this.#texts.hasRoom(organizationId, first.bytes)
    );
  }

  /** Milliseconds until the organization's rate lets it begin something. */
  #pauseOf({ busyUntil }: Line, now: number): number {
    const { burstBytes, bytesPerSecond } = this.#limits;
    return busyUntil - now - (burstBytes / bytesPerSecond) * 1000;
  }

  /** Removes idle organizations, and sets a timer for the next one whose rate allows work. */
  #scheduleNext(now: number): void {
    const pauses: number[] = [];
    for (const [organizationId, line] of this.#lines) {
      const isIdle = line.running === 0 && line.waiting.length === 0;
      if (isIdle && line.busyUntil <= now) this.#lines.delete(organizationId);
      const pause = isIdle ? line.busyUntil - now : this.#pauseOf(line, now);
      if (pause > 0) pauses.push(pause);
    }
    if (pauses.length > 0) this.#timer = setTimeout(() => this.#beginNext(), Math.min(...pauses)).unref();
  }
}

/** Runs the work on large texts of one request. */
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
   * Reads a body whose memory is counted as it arrives, until the response is closed.
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
   * Does some work when it is the organization's turn; at once where its text is small.
   *
   * @param bytes of the text that it works on, in UTF-8.
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

function newLine(): Line {
  return { running: 0, waiting: [], busyUntil: 0, servedAt: 0 };
}

function tooMuchOfLearner(): LecternError {
  return tooMany('Too much data sent at once by this learner', retrySeconds);
}

function tooMuch(): LecternError {
  return tooMany('Too much data requested at once', retrySeconds);
}

function isTooMany(error: unknown): error is LecternError {
  return error instanceof LecternError && error.code === 'TOO_MANY_REQUESTS';
}
