import { mongo } from 'mongoose';
import type { Logger } from '../platform/log.ts';

/** The retry delay for the events of a malformed document, which another release may be able to read. */
const retryMs = 3_600_000;

/** The maximum number of documents that one line of the log names. */
const maxNamed = 10;

/**
 * Skips the documents of a batch whose events cannot be read, so that one document never blocks the events of others.
 */
export class MalformedDocuments {
  readonly #errors = new Map<string, unknown>();
  readonly retryAt = new Date(Date.now() + retryMs);

  get ids(): string[] {
    return [...this.#errors.keys()];
  }

  /** Reads events of a document. Returns null if that fails, also for earlier events of the document. */
  async read<T>(id: string, read: () => T | Promise<T>): Promise<T | null> {
    if (this.#errors.has(id)) return null;
    try {
      return await read();
    } catch (error) {
      // Database errors concern all documents.
      if (error instanceof mongo.MongoError) throw error;
      this.#errors.set(id, error);
      return null;
    }
  }

  /** Returns the documents without those that could not be read. */
  without<Document extends { _id: string }>(documents: readonly Document[]): Document[] {
    return documents.filter(({ _id }) => !this.#errors.has(_id));
  }

  report(log: Logger, collection: string): void {
    const [err] = this.#errors.values();
    if (this.#errors.size === 0) return;
    const details = { err, collection, count: this.#errors.size, documents: this.ids.slice(0, maxNamed) };
    log.error(details, 'events cannot be read; they are skipped, and read again after an hour');
  }
}
