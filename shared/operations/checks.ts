import { cachedRead } from '../platform/cached-read.ts';
import { withDeadline } from '../platform/time-limits.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/log.ts';

/** A check that does not answer within this time has failed. */
const checkTimeoutMs = 5_000;

/** A check that never ended is given up after this time, and started again. */
const abandonMs = 60_000;

/** How long a result is kept. A failure is kept for less, so that a process is back soon. */
const keepReadyMs = 3_000;
const keepUnreadyMs = 1_000;

/** One thing that a process needs to do its work. */
export interface Check {
  /** Rejects with what is wrong. */
  run: () => Promise<unknown>;
  /** How long it need not be repeated after it was good; 0 unless given. */
  goodForMs?: number;
}

/** What a process needs to do its work, by name. */
export type Checks = Record<string, Check>;

export interface Readiness {
  ready: boolean;
  /** 'ok' or 'failed'; the reasons are in the log, as they can name hosts. */
  checks: Record<string, 'ok' | 'failed'>;
}

/** Tells whether a process can do its work, for any number of callers at any rate. */
export interface ReadinessProbe {
  /**
   * Returns the result of the checks that run now, or of those that ended within the last 3 seconds (1 second for a
   * failure). A process that ends is not ready from that moment on.
   */
  read(): Promise<Readiness>;
}

/** @param stopping is aborted when the process begins to end. */
export function createReadinessProbe(checks: Checks, stopping: AbortSignal, log: Logger): ReadinessProbe {
  const kept = Object.entries(checks).map(([name, check]) => new KeptCheck(name, check, log));
  const run = async (): Promise<Readiness> => {
    const results = await Promise.all(kept.map(async (one) => [one.name, await one.read()] as const));
    return { ready: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) };
  };
  const read = cachedRead(run, ({ ready }) => (ready ? keepReadyMs : keepUnreadyMs));
  return {
    async read() {
      const isStopping = () => stopping.aborted;
      if (!isStopping()) {
        const readiness = await read();
        if (!isStopping()) return readiness;
      }
      return { ready: false, checks: { shutdown: 'failed' } };
    },
  };
}

class KeptCheck {
  readonly name: string;
  readonly #check: Check;
  readonly #log: Logger;
  #goodUntil = -Infinity;
  /** What was started and has not ended, and when it was. */
  #pending: { since: number; done: Promise<unknown> } | null = null;

  constructor(name: string, check: Check, log: Logger) {
    this.name = name;
    this.#check = check;
    this.#log = log;
  }

  async read(): Promise<'ok' | 'failed'> {
    if (performance.now() < this.#goodUntil) return 'ok';
    try {
      await withDeadline(this.#start(), { timeoutMs: checkTimeoutMs });
      this.#goodUntil = performance.now() + (this.#check.goodForMs ?? 0);
      return 'ok';
    } catch (error) {
      this.#log.warn({ check: this.name, reason: messageOf(error) }, 'not ready');
      return 'failed';
    }
  }

  /** One at a time: a disk that hangs would take a thread of the process with each. */
  #start(): Promise<unknown> {
    const since = performance.now();
    if (this.#pending !== null && since - this.#pending.since < abandonMs) return this.#pending.done;
    const pending = { since, done: this.#check.run() };
    const end = () => {
      if (this.#pending === pending) this.#pending = null;
    };
    this.#pending = pending;
    pending.done.then(end, end);
    return pending.done;
  }
}
