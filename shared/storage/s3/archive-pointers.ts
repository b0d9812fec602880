import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { Bucket, ListedObject } from './bucket.ts';

/** Cached pointers between listings, about 300 bytes each. */
const cachedPointers = 50_000;

/** Concurrent fetches of pointers. */
const fetchConcurrency = 16;

/** More than any pointer has. */
const maxPointerBytes = 4096;

const pointerSchema = z.object({
  /** The name of the object with the bytes. */
  file: z.uuid(),
  /** Bytes. */
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The published archive of a key. */
export type ArchivePointer = z.output<typeof pointerSchema>;

/** A pointer in a listing, by its own name and with the time of its last write. */
type ListedPointer = ArchivePointer & Pick<ListedObject, 'name' | 'modified'>;

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

  /** Returns whether an object is a pointer. */
  isPointer(name: string): boolean {
    return name.startsWith(this.#folder);
  }

  /** Returns the pointer of a name; null if there is none. */
  async read(name: string): Promise<ArchivePointer | null> {
    const found = await this.#bucket.getStart(name, maxPointerBytes);
    return found && pointerSchema.parse(JSON.parse(found.bytes.toString()));
  }

  find(key: string): Promise<ArchivePointer | null> {
    return this.read(this.#folder + key);
  }

  put(key: string, pointer: ArchivePointer): Promise<void> {
    return this.#bucket.put(this.#folder + key, Buffer.from(JSON.stringify(pointer)));
  }

  delete(key: string): Promise<void> {
    return this.#bucket.delete(this.#folder + key);
  }

  /** Lists all pointers, page by page. */
  async *list(): AsyncGenerator<ListedPointer[]> {
    const limit = pLimit(fetchConcurrency);
    for await (const page of this.#bucket.list(this.#folder)) {
      const found = await Promise.all(page.map((object) => limit(() => this.#describe(object))));
      yield found.flatMap((one) => one ?? []);
    }
  }

  /** Returns null for a pointer that was deleted since the listing. */
  async #describe({ name, etag, modified }: ListedObject): Promise<ListedPointer | null> {
    const id = `${etag} ${name}`;
    const pointer = this.#cached.get(id) ?? (await this.read(name));
    if (pointer === null) return null;
    this.#cached.set(id, pointer);
    return { ...pointer, name, modified };
  }
}
