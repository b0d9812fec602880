import { Types } from 'mongoose';
import { insertEntries } from '../models/audit-entry.ts';
import type { AuditEntry, AuditEntryDb } from '../models/audit-entry.ts';
import { LecternError } from '../platform/errors.ts';
import type { Logger } from '../platform/log.ts';

export type NewAuditEntry = Omit<AuditEntry, '_id' | 'organizationId' | 'at'>;

/** How long the entry of a reading waits for others. A killed process loses only entries of readings. */
const lingerMs = 1_000;

/** The time between attempts while MongoDB does not respond. */
const retryMs = 5_000;

const batchSize = 1_000;

/** Above this number of entries in memory (a few MB), requests fail before they do anything. */
export const maxWaiting = 10_000;
const fullRetrySeconds = 10;

/** The maximum length of ids, and of texts in details. Requests have the same limit for ids. */
const maxTextLength = 255;

/**
 * Writes the audit log. The entries of changes are stored before their responses, those of readings within about a
 * second, many at once.
 */
export class AuditLog {
  readonly #db: AuditEntryDb;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #waiting: AuditEntry[] = [];
  #running: Promise<void> | null = null;
  /** The write after the running one, which all entries that came meanwhile share. */
  #next: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor({ db, log }: { db: AuditEntryDb; log: Pick<Logger, 'warn'> }) {
    this.#db = db;
    this.#log = log;
  }

  /**
   * Checks before a request that there is room for its entry, so that no action stays unrecorded.
   *
   * @throws {LecternError} INTERNAL_ERROR if too many entries wait for MongoDB.
   */
  requireRoom(): void {
    if (this.#waiting.length < maxWaiting) return;
    const text = `${this.#waiting.length} entries of the audit log wait for MongoDB`;
    throw new LecternError('INTERNAL_ERROR', text, { retryAfterSeconds: fullRetrySeconds });
  }

  /** Adds an entry, which reaches MongoDB within about a second. */
  record(organizationId: string, entry: NewAuditEntry): void {
    this.#add(organizationId, entry);
    this.#writeIn(lingerMs);
  }

  /**
   * Adds an entry, and resolves when MongoDB has it.
   *
   * @throws {Error} if MongoDB does not respond: the entry is stored later.
   */
  async recordNow(organizationId: string, entry: NewAuditEntry): Promise<void> {
    this.#add(organizationId, entry);
    try {
      await this.#write();
    } catch (error) {
      this.#writeIn(retryMs);
      throw error;
    }
  }

  /** Stores the remaining entries. @throws {Error} if MongoDB does not respond. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#write();
  }

  #add(organizationId: string, entry: NewAuditEntry): void {
    this.#waiting.push({ _id: new Types.ObjectId(), organizationId, at: new Date(), ...shortened(entry) });
  }

  #writeIn(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#write().catch((error: unknown) => {
        this.#log.warn({ err: error }, 'the audit log could not be written; Lectern retries');
        this.#writeIn(retryMs);
      });
    }, delayMs);
  }

  /** Stores all entries that wait by now. */
  #write(): Promise<void> {
    if (this.#running === null) {
      this.#running = this.#storeAll().finally(() => (this.#running = null));
      return this.#running;
    }
    const store = () => {
      this.#next = null;
      return this.#write();
    };
    this.#next ??= this.#running.then(store, store);
    return this.#next;
  }

  async #storeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchSize);
      await insertEntries(this.#db, batch);
      this.#waiting.splice(0, batch.length);
    }
  }
}

/** Returns an entry with short texts: MongoDB rejects a document of 16 MB. */
function shortened({ target, details, ...entry }: NewAuditEntry): NewAuditEntry {
  const short = <Value>(value: Value) => (typeof value === 'string' ? value.slice(0, maxTextLength) : value);
  return {
    ...entry,
    target: target && { ...target, id: target.id.slice(0, maxTextLength) },
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, short(value)])),
  };
}
