import { onAbort } from '../../platform/abort-listeners.ts';
import { DownloadError, SlowDownload } from './failure.ts';

export interface IdleTimeoutLimits {
  /** The origin, for messages. */
  host: string;
  /** The longest time without a byte. */
  idleMs: number;
  /** The required average over `idleMs`; 0 for no minimum. */
  minBytesPerSecond: number;
  /** The longest time for the whole request. */
  deadlineMs: number;
}

/**
 * Aborts one request when its caller aborts, and when the origin is silent, too slow, or over its deadline. Time counts
 * from {@link start}, so a request may wait for its connection. Two timers serve the whole request; each chunk only
 * resets one of them.
 */
export class IdleTimeout {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  readonly #limits: IdleTimeoutLimits;
  #idle: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #startedAt: number | null = null;
  #paused = false;
  #resumedAt = 0;
  /** Bytes of the current window, and the time that the origin took for them. */
  #bytes = 0;
  #waitedMs = 0;

  /** `caller` must not be aborted yet. */
  constructor(caller: AbortSignal, limits: IdleTimeoutLimits) {
    this.#limits = limits;
    this.#stopListening = onAbort(caller, () => this.#controller.abort(caller.reason));
  }

  /** Starts the timers: the request is sent. */
  start(): void {
    // undici sends a request again if it failed before a server could have seen it.
    if (this.#startedAt !== null) return;
    const { host, idleMs, deadlineMs } = this.#limits;
    this.#startedAt = performance.now();
    this.#idle = setTimeout(() => {
      if (this.#paused) this.#idle?.refresh();
      else
        this.#controller.abort(new DownloadError('timeout', `${host} sent no byte for ${idleMs / 1000} s`));
    }, idleMs);
    this.#deadline = setTimeout(() => {
      const seconds = Math.round(deadlineMs / 1000);
      this.#controller.abort(new SlowDownload(`${host} did not send the file within ${seconds} s`));
    }, deadlineMs);
  }

  /** Aborted with the caller's reason, or with a {@link DownloadError}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Counts received bytes, and stops the idle timer while the store writes them. */
  pause(bytes: number): void {
    this.#paused = true;
    const { host, idleMs, minBytesPerSecond } = this.#limits;
    this.#bytes += bytes;
    this.#waitedMs += performance.now() - this.#resumedAt;
    if (this.#waitedMs < idleMs) return;
    if (this.#bytes < (minBytesPerSecond * this.#waitedMs) / 1000) {
      const seconds = Math.round(this.#waitedMs / 1000);
      const message = `${host} sent only ${this.#bytes} bytes in ${seconds} s; the minimum is ${minBytesPerSecond} bytes per second`;
      this.#controller.abort(new SlowDownload(message));
    }
    this.#bytes = 0;
    this.#waitedMs = 0;
  }

  /** Restarts the idle timer. */
  resume(): void {
    this.#paused = false;
    this.#resumedAt = performance.now();
    this.#idle?.refresh();
  }

  /** Stops the timers; returns the milliseconds since the start. */
  close(): number {
    clearTimeout(this.#idle);
    clearTimeout(this.#deadline);
    this.#stopListening();
    return this.#startedAt === null ? 0 : performance.now() - this.#startedAt;
  }
}
