import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { faultCode } from '../../platform/errors.ts';
import { repairFile, RepairFault, repairLimit } from '../repaired-files.ts';
import { inspect, sniffBytes } from '../content-types.ts';
import { DownloadError } from './failure.ts';
import type { IdleTimeout } from './idle-timeout.ts';

export interface BodyRules {
  /** The origin, for messages. */
  host: string;
  maxBytes: number;
  /** The Content-Length; null without one. */
  length: number | null;
  /** Whether the origin compressed the body despite `Accept-Encoding: identity`. */
  gzip: boolean;
  mimeType: string;
  /** The Content-Type; null without a specific one. */
  sentType: string | null;
  onBytes: ((count: number) => void) | undefined;
  organizationId: string;
}

/**
 * A response body, to be read once. It fails when it is too large, of the wrong type or incomplete, and yields no bytes
 * before the first ones have shown the type. SVGs and captions come in one piece, as {@link
 * repairFile} returns them.
 */
export class Body implements AsyncIterable<Uint8Array> {
  /** The reason for ending early. */
  failure: Error | undefined;
  complete = false;
  /** The declared type, or another type of its family that the first bytes show. */
  mimeType: string;

  readonly #source: Readable;
  readonly #rules: BodyRules;
  readonly #idleTimeout: IdleTimeout;

  constructor(source: Readable, rules: BodyRules, idleTimeout: IdleTimeout) {
    this.#source = source;
    this.#rules = rules;
    this.mimeType = rules.mimeType;
    this.#idleTimeout = idleTimeout;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const whole: Uint8Array[] = [];
    try {
      for await (const chunk of this.#checked()) {
        if (repairLimit(this.mimeType) !== null) whole.push(chunk);
        else yield chunk;
      }
      if (whole.length > 0) yield await this.#repaired(Buffer.concat(whole));
      this.complete = true;
    } catch (error) {
      this.failure = this.#explain(error);
      throw this.failure;
    }
  }

  async *#checked(): AsyncGenerator<Uint8Array, void, undefined> {
    const { host, maxBytes, length, gzip, onBytes } = this.#rules;
    let size = 0;
    // The bytes held back until they show the type; then null.
    let head: Buffer | null = Buffer.alloc(0);
    for await (const chunk of this.#decoded() as AsyncIterable<Buffer>) {
      this.#idleTimeout.pause(chunk.length);
      this.#idleTimeout.signal.throwIfAborted();
      size += chunk.length;
      const repairable = head === null ? repairLimit(this.mimeType) : null;
      const limit = repairable === null ? maxBytes : Math.min(maxBytes, repairable);
      if (size > limit) throw new DownloadError('too_large', `${host} sent more than ${limit} bytes`);
      onBytes?.(chunk.length);
      if (head === null) {
        yield chunk;
      } else {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        if (head.length >= sniffBytes) {
          await this.#inspect(head);
          yield head;
          head = null;
        }
      }
      this.#idleTimeout.resume();
    }
    // Node reports a truncated body; this covers cases that it may miss.
    if (!gzip && length !== null && size !== length) {
      throw new DownloadError('truncated', `${host} sent ${size} of ${length} bytes`);
    }
    // An empty file is most likely a temporary fault of the origin, so an earlier copy may serve.
    if (size === 0) throw new DownloadError('truncated', `${host} sent an empty file`);
    if (head !== null) {
      await this.#inspect(head);
      yield head;
    }
  }

  #decoded(): Readable {
    // The reader gets a decoder's failure; pipeline only requires the callback.
    return this.#rules.gzip ? pipeline(this.#source, createGunzip(), () => {}) : this.#source;
  }

  async #inspect(head: Uint8Array): Promise<void> {
    const { host, mimeType, sentType } = this.#rules;
    const found = await inspect(mimeType, head, sentType);
    if (found.contradiction !== null) {
      throw new DownloadError(
        'bad_type',
        `${host} sent ${found.contradiction} instead of the declared ${mimeType}`,
      );
    }
    this.mimeType = found.mimeType;
  }

  async #repaired(file: Buffer): Promise<Uint8Array> {
    // The origin has sent everything.
    this.#idleTimeout.pause(0);
    const owner = { organizationId: this.#rules.organizationId, signal: this.#idleTimeout.signal };
    try {
      return (await repairFile(this.mimeType, file, owner)).bytes;
    } catch (error) {
      if (!(error instanceof RepairFault)) throw error;
      throw new DownloadError('bad_type', `${this.#rules.host} sent ${error.message}`);
    }
  }

  #explain(error: unknown): Error {
    if (this.#idleTimeout.signal.aborted) return this.#idleTimeout.signal.reason as Error;
    if (error instanceof DownloadError) return error;
    const { host } = this.#rules;
    const code = faultCode(error);
    if (code === 'Z_DATA_ERROR') return new DownloadError('bad_type', `${host} sent invalid gzip`);
    return new DownloadError('truncated', `${host} did not send the whole file (${code})`);
  }
}
