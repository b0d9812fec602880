import { withDeadline } from '../platform/time-limits.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/log.ts';

/** A check that takes longer has failed. */
const checkTimeoutMs = 5_000;

/** After this time, a hanging check is abandoned and may start again. */
const abandonMs = 60_000;

/** How long a result is cached. Failures are cached for a shorter time, so that recovery shows soon. */
const keepOkMs = 3_000;
const keepFailureMs = 1_000;

/** Checks a dependency of the process. */
export interface Check {
  /** Without a required dependency, the process is not ready; without another, it is degraded. */
  required?: boolean;
  /** Rejects if the dependency fails. */
  run: () => Promise<unknown>;
  /** How long a success counts without a new check; 0 by default. */
  goodForMs?: number;
}

/** The checks of a process by name. */
export type Checks = Record<string, Check>;

/** `degraded`: the process serves what does not need the failed dependencies. `unavailable`: it is not ready. */
export type ReadinessStatus = 'ok' | 'degraded' | 'unavailable';

export interface Readiness {
  status: ReadinessStatus;
  /** The reasons of failures are only in the log: they may name hosts. */
  checks: Record<string, 'ok' | 'failed'>;
}

/** Reads whether a process is ready; safe to call at any rate. */
export interface ReadinessProbe {
  /**
   * Returns the result of the current checks, or a cached one: for up to 3 seconds, or 1 second after a failure. During
   * shutdown, the process is not ready.
   */
  read(): Promise<Readiness>;
}

/** @param stopping is aborted at shutdown. */
export function createReadinessProbe(checks: Checks, stopping: AbortSignal, log: Logger): ReadinessProbe {
  const cached = Object.entries(checks).map(([name, check]) => new CachedCheck(name, check, log));
  const run = async (): Promise<Readiness> => {
    const results = await Promise.all(cached.map(async (one) => [one.name, await one.read()] as const));
    const failed = results.filter(([, result]) => result === 'failed').map(([name]) => name);
    const isReady = failed.every((name) => checks[name]?.required !== true);
    const status = failed.length === 0 ? 'ok' : isReady ? 'degraded' : 'unavailable';
    return { status, checks: Object.fromEntries(results) };
  };
  const read = cachedRead(run, ({ status }) => (status === 'ok' ? keepOkMs : keepFailureMs));
  return {
    async read() {
      const isStopping = () => stopping.aborted;
      if (!isStopping()) {
        const readiness = await read();
        if (!isStopping()) return readiness;
      }
      return { status: 'unavailable', checks: { shutdown: 'failed' } };
    },
  };
}

class CachedCheck {
  readonly name: string;
  readonly #check: Check;
  readonly #log: Logger;
  #goodUntil = -Infinity;
  /** The running check, and its start. */
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
      this.#log.warn({ check: this.name, reason: messageOf(error) }, 'a check failed');
      return 'failed';
    }
  }

  /** Starts the check unless it is running: on a hanging disk, each one would block a thread. */
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

/**
 * Returns a function that caches the result of `read`. Concurrent calls share one read. Failures are not cached.
 *
 * @param keepMs returns how long to cache a result, in milliseconds.
 */
export function cachedRead<T>(read: () => Promise<T>, keepMs: (result: T) => number): () => Promise<T> {
  let running: Promise<T> | null = null;
  let last: { result: T; until: number } | null = null;
  const run = async (): Promise<T> => {
    const result = await read();
    last = { result, until: performance.now() + keepMs(result) };
    return result;
  };
  return async () => {
    if (last !== null && performance.now() < last.until) return last.result;
    running ??= run().finally(() => (running = null));
    return running;
  };
}
