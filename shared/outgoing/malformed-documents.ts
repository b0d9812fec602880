import { mongo } from 'mongoose';
import type { Logger } from '../platform/log.ts';

/** How long the events of a malformed document wait for another try, with a release that may be able to read them. */
const retryMs = 3_600_000;

/** The documents that one line of the log names. */
const maxNamed = 10;

/**
 * The documents of a batch whose events cannot be read. They are skipped, so that one document never stops the events of
 * all others.
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
      // These concern all documents.
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
