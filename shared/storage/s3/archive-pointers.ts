import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { ListedArchive } from '../store.ts';
import type { Bucket, ListedObject } from './bucket.ts';

/** Cached pointers between listings, about 300 bytes each. */
const cachedPointers = 50_000;

/** Concurrent fetches of pointers. */
const fetchConcurrency = 16;

const pointerSchema = z.object({
  /** The name of the object with the bytes. */
  file: z.uuid(),
  /** Bytes. */
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** By the publisher's clock, because S3 listings have whole seconds only. */
  storedAt: z.iso.datetime().transform((text) => new Date(text)),
});

/** The published archive of a key. */
export type ArchivePointer = z.output<typeof pointerSchema>;

/** The small objects that make files visible as archives. S3 writes and replaces each atomically. */
export class ArchivePointers {
  readonly #bucket: Bucket;
  readonly #folder: string;
  /** By name and ETag, so that the cache matches the listing. */
  readonly #cached = new LRUCache<string, ArchivePointer>({ max: cachedPointers });

  constructor(bucket: Bucket, folder: string) {
    this.#bucket = bucket;
    this.#folder = folder;
  }

  async find(key: string): Promise<ArchivePointer | null> {
    const bytes = await this.#bucket.get(this.#folder + key);
    return bytes === null ? null : pointerSchema.parse(JSON.parse(bytes.toString()));
  }

  put(key: string, pointer: ArchivePointer): Promise<void> {
    return this.#bucket.put(this.#folder + key, Buffer.from(JSON.stringify(pointer)));
  }

  delete(key: string): Promise<void> {
    return this.#bucket.delete(this.#folder + key);
  }

  /** Lists all archives, page by page. */
  async *list(): AsyncGenerator<(ListedArchive & { file: string })[]> {
    const limit = pLimit(fetchConcurrency);
    for await (const page of this.#bucket.list(this.#folder)) {
      const found = await Promise.all(page.map((object) => limit(() => this.#listed(object))));
      yield found.flatMap((one) => one ?? []);
    }
  }

  /** Returns null for a pointer that was deleted since the listing. */
  async #listed({ name, etag }: ListedObject): Promise<(ListedArchive & { file: string }) | null> {
    const key = name.slice(this.#folder.length);
    const id = `${etag} ${key}`;
    const pointer = this.#cached.get(id) ?? (await this.find(key));
    if (pointer === null) return null;
    this.#cached.set(id, pointer);
    return { key, ...pointer };
  }
}
