import type { Lrs } from './cmi5-launch.ts';
import type { TrackerEvents } from './tracker.ts';

const retryMs = 2_000;
const maxRetries = 5;
const stateDelayMs = 500;
/** Browsers finish no longer requests of a page that is closed. */
const maxBatchBytes = 20_000;

/**
 * Sends statements in order, one batch at a time, and the newest state. Both are retried; a statement that the store
 * rejects is dropped, because another attempt would be rejected as well.
 */
export class Cmi5Outbox {
  readonly #lrs: Lrs;
  readonly #stateId: string;
  readonly #events: TrackerEvents;
  #statements: object[] = [];
  #state: object | null = null;
  #etag: string | null;
  #isSending = false;
  /** The statements of requests without a response. */
  readonly #inFlight = new Set<object>();
  #isPutting = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param state the state document, with its ETag; null if it does not exist */
  constructor(lrs: Lrs, state: { stateId: string; etag: string | null }, events: TrackerEvents) {
    this.#lrs = lrs;
    this.#stateId = state.stateId;
    this.#etag = state.etag;
    this.#events = events;
  }

  add(statement: object): void {
    this.#statements.push(statement);
    this.#schedule(0);
  }

  setState(state: object): void {
    this.#state = structuredClone(state);
    this.#schedule(stateDelayMs);
  }

  /** Sends everything now. @param isLast whether the page may be closed before the responses */
  async flush(isLast: boolean): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!isLast) return this.#send();
    // Both at once: a page that is closed cannot wait for the first response. The browser finishes earlier requests.
    const statements = withinLimit(this.#statements.filter((statement) => !this.#inFlight.has(statement)));
    await Promise.all([
      statements.length > 0 && this.#post(statements),
      this.#state !== null && this.#put(this.#state),
    ]).catch(() => this.#schedule(retryMs));
  }

  #schedule(delayMs: number): void {
    if (this.#isSending) return;
    if (this.#timer !== undefined && delayMs > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(), delayMs);
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#timer = undefined;
    try {
      while (this.#statements.length > 0) await this.#post(withinLimit(this.#statements));
      if (this.#state !== null) await this.#put(this.#state);
      if (this.#failures > maxRetries) this.#events.onRecording(true);
      this.#failures = 0;
      this.#isSending = false;
      if (this.#statements.length > 0 || this.#state !== null) this.#schedule(stateDelayMs);
    } catch {
      this.#failures += 1;
      if (this.#failures === maxRetries + 1) this.#events.onRecording(false);
      this.#isSending = false;
      this.#schedule(retryMs);
    }
  }

  /** @throws when the store cannot take statements now */
  async #post(statements: object[]): Promise<void> {
    for (const statement of statements) this.#inFlight.add(statement);
    let response;
    try {
      response = await this.#lrs.request('statements', { method: 'POST', body: statements });
    } finally {
      for (const statement of statements) this.#inFlight.delete(statement);
    }
    const isRejected = [400, 403, 409, 413].includes(response.status);
    if (!response.ok && !isRejected) throw new Error(`The store returned status ${response.status}`);
    // One bad statement rejects its whole batch.
    if (isRejected && statements.length > 1) {
      for (const statement of statements) await this.#post([statement]);
      return;
    }
    this.#statements = this.#statements.filter((statement) => !statements.includes(statement));
  }

  /** @throws when the store cannot take the state now */
  async #put(state: object): Promise<void> {
    // The ETag of a request without a response is not known yet.
    const etag = this.#isPutting ? '*' : this.#etag;
    const headers: Record<string, string> = etag === null ? { 'If-None-Match': '*' } : { 'If-Match': etag };
    this.#isPutting = true;
    const response = await this.#lrs
      .state(this.#stateId, { method: 'PUT', body: state, headers })
      .finally(() => (this.#isPutting = false));
    if (response.status === 412) {
      // Another tab has written. The newest answer counts, as in other tabs of an archive.
      this.#etag = (await this.#lrs.state(this.#stateId)).headers.get('ETag');
      throw new Error('The state has changed');
    }
    if (!response.ok) throw new Error(`The store returned status ${response.status}`);
    this.#etag = response.headers.get('ETag') ?? (await this.#lrs.state(this.#stateId)).headers.get('ETag');
    if (this.#state === state) this.#state = null;
  }
}

function withinLimit(statements: readonly object[]): object[] {
  let bytes = 0;
  return statements.filter((statement) => {
    bytes += JSON.stringify(statement).length;
    return bytes < maxBatchBytes || bytes === JSON.stringify(statement).length;
  });
}
