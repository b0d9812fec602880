import { Types } from 'mongoose';
import type { AuditEntry, AuditEntryDb } from '../models/audit-entry.ts';
import { isDuplicatesOnly } from '../platform/mongo.ts';
import type { Logger } from '../platform/log.ts';

export type NewAuditEntry = Omit<AuditEntry, '_id' | 'organizationId' | 'at'>;

/** How long the entry of a reading waits for others. A killed process loses only entries of readings. */
const lingerMs = 1_000;
/** The maximum length of ids, and of texts in details. Requests have the same limit for ids. */
const maxTextLength = 255;

/**
 * Writes the audit log: entries of changes before their responses, and those of readings within about a second, in one
 * insert, which would otherwise cost as much as the readings.
 */
export class AuditLog {
  readonly #db: AuditEntryDb;
  readonly #log: Pick<Logger, 'warn'>;
  #waiting: AuditEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #storing = Promise.resolve();

  constructor({ db, log }: { db: AuditEntryDb; log: Pick<Logger, 'warn'> }) {
    this.#db = db;
    this.#log = log;
  }

  /** Adds the entry of a reading. */
  record(organizationId: string, entry: NewAuditEntry): void {
    this.#waiting.push(newEntry(organizationId, entry));
    this.#timer ??= setTimeout(() => void (this.#storing = this.#store()), lingerMs);
  }

  /** Stores the entry of a change. @throws {Error} if MongoDB does not respond. */
  async recordNow(organizationId: string, entry: NewAuditEntry): Promise<void> {
    await this.#db.auditEntries.collection.insertOne(newEntry(organizationId, entry));
  }

  /** Stores the entries of readings that wait. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#storing;
    await this.#store();
  }

  async #store(): Promise<void> {
    this.#timer = undefined;
    const entries = this.#waiting.splice(0);
    try {
      if (entries.length > 0) await this.#db.auditEntries.collection.insertMany(entries, { ordered: false });
    } catch (error) {
      // Entries whose acknowledgment was lost are there already.
      if (isDuplicatesOnly(error)) return;
      this.#log.warn(
        { err: error },
        'the audit log could not be written; Lectern retries with the next entries',
      );
      this.#waiting.unshift(...entries);
    }
  }
}

/** Returns an entry with short texts: MongoDB rejects a document of 16 MB. */
function newEntry(organizationId: string, { target, details, ...entry }: NewAuditEntry): AuditEntry {
  const short = <Value>(value: Value) => (typeof value === 'string' ? value.slice(0, maxTextLength) : value);
  return {
    ...{ _id: new Types.ObjectId(), organizationId, at: new Date(), ...entry },
    target: target && { ...target, id: target.id.slice(0, maxTextLength) },
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, short(value)])),
  };
}
