import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { ListedArchive } from '../store.ts';
import type { Bucket, ListedObject } from './bucket.ts';

/** Pointers remembered between listings, about 300 bytes each. */
const rememberedPointers = 50_000;

/** Pointers fetched at once. */
const fetchedAtOnce = 16;

const pointerSchema = z.object({
  /** The name of the file with the bytes. */
  file: z.uuid(),
  /** Bytes. */
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** By the clock of who published it: listings of S3 tell whole seconds. */
  storedAt: z.iso.datetime().transform((text) => new Date(text)),
});

/** What is published under a key. */
export type ArchivePointer = z.output<typeof pointerSchema>;

/** The small objects that make files visible as archives: each is written at once, and replaced at once. */
export class ArchivePointers {
  readonly #bucket: Bucket;
  readonly #folder: string;
  /** By name and ETag, so that what is remembered is what was listed. */
  readonly #known = new LRUCache<string, ArchivePointer>({ max: rememberedPointers });

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

  /** All archives, a page at a time. */
  async *list(): AsyncGenerator<(ListedArchive & { file: string })[]> {
    const limit = pLimit(fetchedAtOnce);
    for await (const page of this.#bucket.list(this.#folder)) {
      const found = await Promise.all(page.map((object) => limit(() => this.#listed(object))));
      yield found.flatMap((one) => one ?? []);
    }
  }

  /** Null where it was deleted since it was listed. */
  async #listed({ name, etag }: ListedObject): Promise<(ListedArchive & { file: string }) | null> {
    const key = name.slice(this.#folder.length);
    const id = `${etag} ${key}`;
    const pointer = this.#known.get(id) ?? (await this.find(key));
    if (pointer === null) return null;
    this.#known.set(id, pointer);
    return { key, ...pointer };
  }
}
