import { onAbort } from '../abort-listeners.ts';
import { DownloadError } from './failure.ts';

/**
 * Ends one request when its caller aborts, or when the origin is silent for too long. One timer serves the whole
 * request; each chunk only pushes it back.
 */
export class Watch {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  readonly #timer: NodeJS.Timeout;
  #paused = false;

  /** `caller` must not be aborted yet. */
  constructor(caller: AbortSignal, idleMs: number) {
    this.#stopListening = onAbort(caller, () => this.#controller.abort(caller.reason));
    this.#timer = setTimeout(() => {
      if (this.#paused) this.#timer.refresh();
      else this.#controller.abort(new DownloadError('timeout', `Not a byte came for ${idleMs / 1000} s`));
    }, idleMs);
  }

  /** Aborted with the caller's reason, or with a {@link DownloadError} for silence. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** It is the store that takes its time now, not the origin. */
  pause(): void {
    this.#paused = true;
  }

  /** The origin owes bytes: its silence counts from now. */
  resume(): void {
    this.#paused = false;
    this.#timer.refresh();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#stopListening();
  }
}
