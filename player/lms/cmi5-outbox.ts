import type { Lrs } from './cmi5-launch.ts';
import type { TrackerEvents } from './tracker.ts';

const retryMs = 2_000;
const maxRetries = 5;
const stateDelayMs = 500;
/** Browsers drop longer requests when a page is closed. */
const maxBatchBytes = 20_000;
/** Includes 401, which also reports violations (ADL's CATAPULT). An expired token cannot be renewed. */
const rejections: readonly number[] = [400, 401, 403, 409, 413];

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
  /** The requests in progress; undefined if there are none. */
  #sending: Promise<void> | undefined;
  #hasPosted = false;
  /** The statements of requests without a response. */
  readonly #inFlight = new Set<object>();
  #isPutting = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param stored the response with the state document */
  constructor(lrs: Lrs, state: { stateId: string; stored: Response }, events: TrackerEvents) {
    this.#lrs = lrs;
    this.#stateId = state.stateId;
    this.#etag = etagOf(state.stored);
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

  /** Sends everything, and waits for the responses. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    return this.#send();
  }

  /**
   * Sends everything at once, because a page that is closed cannot wait for a response. The browser finishes requests.
   * The state is first: platforms may reject it after the statement that ends the session.
   */
  async flushAtEnd(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#statements.filter((statement) => !this.#inFlight.has(statement));
    const first = this.#hasPosted || this.#inFlight.size > 0 ? [] : waiting.splice(0, 1);
    await Promise.all([
      this.#state !== null && this.#put(this.#state),
      first.length > 0 && this.#post(first),
      waiting.length > 0 && this.#post(withinLimit(waiting)),
    ]).catch(() => this.#schedule(retryMs));
  }

  #schedule(delayMs: number): void {
    if (this.#sending !== undefined) return;
    if (this.#timer !== undefined && delayMs > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(), delayMs);
  }

  #send(): Promise<void> {
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().then((isSent) => {
      this.#sending = undefined;
      if (this.#statements.length > 0 || this.#state !== null) this.#schedule(isSent ? 0 : retryMs);
    });
    return this.#sending;
  }

  /** Returns whether the store has taken or rejected everything. */
  async #sendAll(): Promise<boolean> {
    try {
      for (;;) {
        if (this.#statements.length > 0) await this.#post(this.#nextBatch());
        else if (this.#state !== null) await this.#put(this.#state);
        else break;
      }
    } catch {
      this.#failures += 1;
      if (this.#failures === maxRetries + 1) this.#events.onRecording(false);
      return false;
    }
    if (this.#failures > maxRetries) this.#events.onRecording(true);
    this.#failures = 0;
    return true;
  }

  /** The first statement is sent alone, because some platforms reject others until they have stored it. */
  #nextBatch(): object[] {
    return this.#hasPosted ? withinLimit(this.#statements) : this.#statements.slice(0, 1);
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
    const isRejected = rejections.includes(response.status);
    this.#hasPosted ||= response.ok;
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
      this.#etag = etagOf(await this.#lrs.state(this.#stateId));
      throw new Error('The state has changed');
    }
    if (!response.ok) throw new Error(`The store returned status ${response.status}`);
    this.#etag = response.headers.get('ETag') ?? etagOf(await this.#lrs.state(this.#stateId));
    if (this.#state === state) this.#state = null;
  }
}

/** Returns the ETag of a document; `*` where a store of another origin hides it, and null if there is no document. */
function etagOf(response: Response): string | null {
  return response.ok ? (response.headers.get('ETag') ?? '*') : null;
}

function withinLimit(statements: readonly object[]): object[] {
  let bytes = 0;
  return statements.filter((statement) => {
    bytes += JSON.stringify(statement).length;
    return bytes < maxBatchBytes || bytes === JSON.stringify(statement).length;
  });
}
