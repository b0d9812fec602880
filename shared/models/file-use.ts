import { LRUCache } from 'lru-cache';
import { atMost } from '../platform/cache-size.ts';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';
import { useResolutionMs } from '../storage/store.ts';
import type { LastUses } from '../storage/store.ts';

/** Longer than copies are usually kept. A file whose row has expired counts as last used when it was stored. */
const keptSeconds = 400 * 24 * 3600;

/** The number of recent uses that a process remembers. */
const maxRemembered = 20_000;

/** The last use of a download or an archive in a bucket, whose objects have no such time. */
export interface FileUse {
  /** The name of the object. */
  _id: string;
  usedAt: Date;
}

export interface FileUseDb {
  fileUses: Model<FileUse>;
}

export const fileUseSchema = new Schema<FileUse>(
  { _id: { type: String, required: true }, usedAt: { type: Date, required: true } },
  schemaOptions,
);
fileUseSchema.index({ usedAt: 1 }, { expireAfterSeconds: keptSeconds });

/** Keeps the last uses of a bucket's files in MongoDB. */
export class MongoLastUses implements LastUses {
  readonly #db: FileUseDb;
  readonly #remembered = new LRUCache<string, true>({ ...atMost(maxRemembered), ttl: useResolutionMs });
  #batch: { names: Set<string>; written: Promise<void> } | null = null;

  constructor(db: FileUseDb) {
    this.#db = db;
  }

  async touch(name: string): Promise<void> {
    if (this.#remembered.has(name)) return;
    this.#batch ??= this.#startBatch();
    this.#batch.names.add(name);
    await this.#batch.written;
    this.#remembered.set(name, true);
  }

  async find(names: readonly string[]): Promise<Map<string, Date>> {
    const found = await this.#db.fileUses
      .find({ _id: { $in: [...names] } })
      .lean<FileUse[]>()
      .exec();
    return new Map(found.map(({ _id, usedAt }) => [_id, usedAt]));
  }

  /** All uses in one turn of the event loop share one write. */
  #startBatch(): { names: Set<string>; written: Promise<void> } {
    const names = new Set<string>();
    const written = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      this.#batch = null;
      const usedAt = new Date();
      await this.#db.fileUses.bulkWrite(
        [...names].map((_id) => ({
          updateOne: { filter: { _id }, update: { $max: { usedAt } }, upsert: true },
        })),
        { ordered: false },
      );
    });
    return { names, written };
  }
}
