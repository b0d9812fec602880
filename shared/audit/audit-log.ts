import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { findAnchor } from '../models/audit-anchor.ts';
import type { AuditAnchorDb } from '../models/audit-anchor.ts';
import { findBlock, findLastBlock, insertBlock } from '../models/audit-block.ts';
import type { AuditBlockDb } from '../models/audit-block.ts';
import { backoffMs } from '../platform/backoff.ts';
import { LecternError } from '../platform/errors.ts';
import type { Logger } from '../platform/log.ts';
import { auditKeyOf, emptyChain, serializeEntry, sealBlock } from './audit-chain.ts';
import type { ChainHead, SerializedEntry } from './audit-chain.ts';
import type { NewAuditEntry } from './audit-entry.ts';

export type AuditDb = AuditBlockDb & AuditAnchorDb;

/**
 * How long the entry of a read waits for further entries, so that blocks are large. A killed process loses only waiting
 * entries.
 */
const lingerMs = 1_000;

/** A full block is about 150 kB, unless its entries are long. */
const maxBlockEntries = 500;
const maxBlockBytes = 1024 ** 2;

/** The maximum length of ids, and of texts in details. Requests have the same limit for ids. */
const maxTextLength = 255;

/** Above this number of entries in memory (a few MB), requests wait for MongoDB. */
const maxBuffered = 10_000;

/** The same limit for one organization, so that its entries alone never delay other organizations' requests. */
const maxBufferedPerOrganization = 2_500;

/** Above this number of an organization's entries in memory, its requests fail before they do anything. */
export const maxEntriesPerOrganization = 5_000;

/** The limit for requests in progress, logins and retention runs. */
const hardMaxEntriesPerOrganization = 2 * maxEntriesPerOrganization;
const fullRetrySeconds = 10;

const concurrentInserts = 4;
const maxKnownHeads = 1_000;

/** The backoff of a writer after another one has stored the next block. At most a few writers compete. */
const contention = { firstMs: 5, maxMs: 200 };
const maxContentions = 100;

/** The time between attempts while MongoDB does not respond. */
const retryMs = 5_000;

type ChainedBlock = ReturnType<typeof sealBlock>;

/** The entries of an organization that MongoDB lacks. */
interface Buffer {
  entries: SerializedEntry[];
  /** A block of the first entries that MongoDB has not acknowledged, but may have. */
  unsure: ChainedBlock | null;
  /** The last of the writes in progress, which run one after the other. */
  writing: Promise<void>;
}

/**
 * Writes the audit log. Each organization has its own hash chain. A process collects entries for up to a second and
 * stores them as one block, so an audited read costs no extra query.
 *
 * Writers need no lock: the id of a block contains its sequence, so exactly one of several concurrent writers stores
 * it. The others read the new head and chain their blocks to that.
 */
export class AuditLog {
  readonly #db: AuditDb;
  readonly #key: Uint8Array;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #buffers = new Map<string, Buffer>();
  readonly #heads = new LRUCache<string, ChainHead>({ max: maxKnownHeads });
  readonly #limit = pLimit(concurrentInserts);
  #buffered = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param deps.pepper the key pepper. */
  constructor({ db, pepper, log }: { db: AuditDb; pepper: string; log: Pick<Logger, 'warn'> }) {
    this.#db = db;
    this.#key = auditKeyOf(pepper);
    this.#log = log;
  }

  /**
   * Checks before a request that there is room for its entry, so that no action stays unrecorded.
   *
   * @throws {LecternError} INTERNAL_ERROR if too many entries of the organization wait for MongoDB.
   */
  requireRoom(organizationId: string): void {
    const waiting = this.#buffers.get(organizationId)?.entries.length ?? 0;
    if (waiting < maxEntriesPerOrganization) return;
    throw new LecternError('INTERNAL_ERROR', fullText(waiting, organizationId), {
      retryAfterSeconds: fullRetrySeconds,
    });
  }

  /**
   * Adds an entry, which reaches MongoDB within about a second. Resolves at once, unless too many entries wait for
   * MongoDB.
   *
   * @throws {Error} if too many entries wait and MongoDB does not respond, or if too many entries of the organization
   * wait.
   */
  async record(organizationId: string, entry: NewAuditEntry): Promise<void> {
    const { entries } = this.#add(organizationId, entry);
    if (entries.length > maxBufferedPerOrganization || this.#buffered > maxBuffered)
      await this.#write(organizationId);
    else this.#writeAllIn(lingerMs);
  }

  /**
   * Adds an entry, and resolves when MongoDB has it.
   *
   * @throws {Error} if MongoDB does not respond: the entry is stored later. Or if too many entries of the organization
   * wait: it is not stored.
   */
  async recordNow(organizationId: string, entry: NewAuditEntry): Promise<void> {
    this.#add(organizationId, entry);
    await this.#write(organizationId);
  }

  /** Stores the remaining entries. @throws {Error} if MongoDB does not respond. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all([...this.#buffers.keys()].map((organizationId) => this.#write(organizationId)));
  }

  #add(organizationId: string, entry: NewAuditEntry): Buffer {
    const buffer = this.#buffers.get(organizationId) ?? {
      ...{ entries: [], unsure: null, writing: Promise.resolve() },
    };
    if (buffer.entries.length >= hardMaxEntriesPerOrganization)
      throw new Error(fullText(buffer.entries.length, organizationId));
    buffer.entries.push(serializeEntry(shortened(entry), new Date()));
    this.#buffers.set(organizationId, buffer);
    this.#buffered += 1;
    return buffer;
  }

  #writeAllIn(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const organizationId of this.#buffers.keys()) {
        this.#write(organizationId).catch((error: unknown) => {
          this.#log.warn({ err: error }, 'the audit log could not be written; Lectern retries');
          this.#writeAllIn(retryMs);
        });
      }
    }, delayMs);
  }

  /** Stores all entries that an organization has by now. */
  #write(organizationId: string): Promise<void> {
    const buffer = this.#buffers.get(organizationId);
    if (buffer === undefined) return Promise.resolve();
    const store = () => this.#limit(() => this.#storeAll(organizationId, buffer));
    const writing = buffer.writing.then(store, store);
    buffer.writing = writing;
    return writing.then(() => {
      const isDone = buffer.writing === writing && buffer.entries.length === 0;
      if (isDone && this.#buffers.get(organizationId) === buffer) this.#buffers.delete(organizationId);
    });
  }

  async #storeAll(organizationId: string, buffer: Buffer): Promise<void> {
    while (buffer.entries.length > 0) {
      const { count } = await this.#append(organizationId, buffer);
      buffer.entries.splice(0, count);
      this.#buffered -= count;
    }
  }

  /** Stores a block of the first entries at the end of the chain, and returns it. */
  async #append(organizationId: string, buffer: Buffer): Promise<ChainedBlock> {
    const { unsure } = buffer;
    if (unsure !== null && (await this.#isStored(unsure))) return this.#appended(unsure, buffer);
    let head = this.#heads.get(organizationId) ?? (await readHead(this.#db, organizationId));
    for (let lost = 0; lost < maxContentions; lost += 1) {
      const entries = entriesOfBlock(buffer.entries);
      const block = sealBlock(this.#key, organizationId, head, { entries, now: new Date() });
      buffer.unsure = block;
      // The driver may have sent the block twice, so the stored block may be this one.
      if ((await insertBlock(this.#db, block)) || (await this.#isStored(block)))
        return this.#appended(block, buffer);
      await delay(backoffMs(contention, lost));
      head = await readHead(this.#db, organizationId);
    }
    throw new Error(`Other processes stored each of ${maxContentions} blocks of the audit log first`);
  }

  #appended(block: ChainedBlock, buffer: Buffer): ChainedBlock {
    this.#heads.set(block.organizationId, block);
    buffer.unsure = null;
    return block;
  }

  async #isStored({ organizationId, sequence, hash }: ChainedBlock): Promise<boolean> {
    return (await findBlock(this.#db, organizationId, sequence))?.hash === hash;
  }
}

function fullText(waiting: number, organizationId: string): string {
  return `${waiting} entries of the audit log of ${organizationId} wait for MongoDB`;
}

/** Returns an entry with short texts: if MongoDB rejected a block for its size, no later entry could be stored. */
function shortened({ target, details, ...entry }: NewAuditEntry): NewAuditEntry {
  const short = <Value>(value: Value) => (typeof value === 'string' ? value.slice(0, maxTextLength) : value);
  return {
    ...entry,
    target: target && { ...target, id: target.id.slice(0, maxTextLength) },
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, short(value)])),
  };
}

/** Returns the first entries, as many as a block may have. */
function entriesOfBlock(entries: readonly SerializedEntry[]): SerializedEntry[] {
  const first = entries.slice(0, maxBlockEntries);
  let bytes = 0;
  const end = first.findIndex(({ json }) => {
    bytes += Buffer.byteLength(json);
    return bytes > maxBlockBytes;
  });
  return end === -1 ? first : first.slice(0, Math.max(end, 1));
}

async function readHead(db: AuditDb, organizationId: string): Promise<ChainHead> {
  return (await findLastBlock(db, organizationId)) ?? (await findAnchor(db, organizationId)) ?? emptyChain;
}
