import { randomUUID } from 'node:crypto';
import { LecternError } from '../../platform/errors.ts';
import type { ArchiveStore, BlobStore, OpenFile, Store } from '../store.ts';
import { ArchivePointers } from './archive-pointers.ts';
import { Bucket } from './bucket.ts';
import { ObjectWriter, partBytesOf } from './object-writer.ts';
import { locationOf } from './faults.ts';
import { defaultLimits } from './settings.ts';
import type { S3Limits, S3Settings } from './settings.ts';
import { withSpool } from './spool.ts';
import { sweepBucket } from './sweep-bucket.ts';

/** Part of every name: a later layout ignores what this one wrote instead of migrating it. */
const layoutVersion = 'v1';

/** Fetched when a blob is opened: most pictures whole, with one request. */
const startBytes = 256 * 1024;

/** For how long a check tries again. */
const checkRetryBudgetMs = 3_000;

export interface S3StoreOptions {
  /** A local folder for blobs on their way to the bucket. */
  spoolFolder: string;
  /** Of what is sent in parts: all but the last have this size, but for blobs too large for 10,000 of it. */
  partBytes: number;
  /** Whether the later parts of a very large archive may be larger than that; no unless given. */
  partsGrow?: boolean;
  limits?: S3Limits;
}

/**
 * The store in a bucket of an S3-compatible service, which any number of hosts share.
 *
 * ```
 * v1/assets/ab/<sha256>        v1/cache/ab/<sha256>
 * v1/archive-files/<uuid>      bytes of archives, sent while they are built; nobody finds them without a pointer
 * v1/archives/<key>            pointers: a small JSON text that names file, size and SHA-256; its PUT publishes
 * v1/orphans/<uuid>            marks of sweeps on files without a pointer, which go when the mark is old
 * v1/checks/<uuid>             written and deleted by checks
 * ```
 *
 * Objects appear whole or not at all, so wherever a writer dies, what it left is an upload or a file without a pointer.
 */
export function createS3Store(settings: S3Settings, options: S3StoreOptions): Store {
  const limits = options.limits ?? defaultLimits;
  const bucket = new Bucket(settings, limits);
  const pointers = new ArchivePointers(bucket, `${layoutVersion}/archives/`);
  return {
    assets: createBlobStore(bucket, `${layoutVersion}/assets/`, settings, options),
    cache: createBlobStore(bucket, `${layoutVersion}/cache/`, settings, options),
    archives: createArchiveStore(bucket, pointers, options),
    sweepTemporaries: (olderThanSeconds, signal) =>
      sweepBucket(bucket, pointers, layoutVersion, { olderThanSeconds, signal }),
    async check() {
      // Whoever starts a process or asks the doctor wants to know soon.
      await check(
        new Bucket(settings, {
          ...limits,
          retryBudgetMs: Math.min(limits.retryBudgetMs, checkRetryBudgetMs),
        }),
      );
      return { place: locationOf(settings), freeBytes: null, sizeBytes: null };
    },
    ping: () => bucket.ping(),
  };
}

/** The size of a blob is known before it is sent. */
function blobPartBytes(size: number, partBytes: number): number {
  return Math.min(Math.max(partBytes, partBytesOf(size)), Math.max(size, 1));
}

function createBlobStore(
  bucket: Bucket,
  folder: string,
  { presignedReads }: S3Settings,
  { spoolFolder, partBytes }: S3StoreOptions,
): BlobStore {
  const nameOf = (sha256: string) => `${folder}${sha256.slice(0, 2)}/${sha256}`;
  return {
    put(source, announce) {
      return withSpool(spoolFolder, source, async ({ digest, chunks }) => {
        await announce?.(digest);
        const name = nameOf(digest.sha256);
        const created = (await bucket.sizeOf(name)) !== digest.size;
        // Also where it is there: a damaged file is mended by whoever brings the bytes again.
        const writer = new ObjectWriter(bucket, name, {
          bytes: blobPartBytes(digest.size, partBytes),
          grow: false,
        });
        try {
          for await (const chunk of chunks()) await writer.write([chunk]);
          await writer.finish();
        } catch (error) {
          await writer.abort();
          throw error;
        }
        return { ...digest, created };
      });
    },
    async has({ sha256, size }) {
      return (await bucket.sizeOf(nameOf(sha256))) === size;
    },
    async open({ sha256, size }) {
      const name = nameOf(sha256);
      if (size === 0) return (await bucket.sizeOf(name)) === 0 ? openObject(bucket, name, 0) : null;
      const start = await bucket.getStart(name, Math.min(size, startBytes));
      return start?.size === size ? openObject(bucket, name, size, start.bytes) : null;
    },
    delete: (sha256) => bucket.delete(nameOf(sha256)),
    async *list() {
      for await (const page of bucket.list(folder)) {
        yield page.map(({ name, size, modified }) => ({
          sha256: name.slice(name.lastIndexOf('/') + 1),
          size,
          storedAt: modified,
        }));
      }
    },
    presignedUrl: async (sha256, wanted) =>
      presignedReads ? bucket.presignedUrl(nameOf(sha256), wanted) : null,
  };
}

function createArchiveStore(
  bucket: Bucket,
  pointers: ArchivePointers,
  { partBytes, partsGrow = false }: S3StoreOptions,
): ArchiveStore {
  return {
    async open(key) {
      const pointer = await pointers.find(key);
      if (pointer === null) return null;
      const { file, size, sha256, storedAt } = pointer;
      // A pointer to a file that is gone, or is not what was written, is none: the archive is built again.
      const name = fileName(file);
      if ((await bucket.sizeOf(name)) !== size) return null;
      return { ...openObject(bucket, name, size), sha256, storedAt };
    },
    create() {
      const file = randomUUID();
      const writer = new ObjectWriter(bucket, fileName(file), { bytes: partBytes, grow: partsGrow });
      let size = 0;
      let published = false;
      return Promise.resolve({
        async write(chunks) {
          for (const chunk of chunks) size += chunk.byteLength;
          await writer.write(chunks);
        },
        async publish(key, sha256) {
          await writer.finish();
          await pointers.put(key, { file, size, sha256, storedAt: new Date() });
          published = true;
        },
        discard: async () => {
          if (!published) await writer.abort();
        },
      });
    },
    // Its file stays for who reads it, until sweeps find it without a pointer.
    delete: (key) => pointers.delete(key),
    list: () => pointers.list(),
  };
}

const fileName = (file: string) => `${layoutVersion}/archive-files/${file}`;

/** @param first bytes of the object that are there already. */
function openObject(bucket: Bucket, name: string, size: number, first?: Uint8Array): OpenFile {
  let kept = first;
  // A function of its own: they are read once, as a rule, and a reader that stalls later must not keep them.
  const take = (start: number, end: number): Uint8Array[] => {
    const chunk = kept?.subarray(start, end);
    kept = undefined;
    return chunk === undefined || chunk.byteLength === 0 ? [] : [chunk];
  };
  const chunks = async function* (start = 0, end = size) {
    const known = Math.max(0, Math.min(end, kept?.byteLength ?? 0) - start);
    yield* take(start, end);
    yield* bucket.read(name, start + known, end);
  };
  return {
    size,
    chunks,
    async send(write, start, end) {
      for await (const chunk of chunks(start, end)) await write(chunk);
    },
    close: () => Promise.resolve(),
  };
}

/** Does with an object of its own whatever the store does, and so needs each of the rights that the store needs. */
async function check(bucket: Bucket): Promise<void> {
  const name = `${layoutVersion}/checks/${randomUUID()}`;
  const written = Buffer.from('lectern');
  await bucket.list(`${layoutVersion}/checks/`).next();
  await bucket.put(name, written);
  const read = await bucket.get(name);
  if (read?.equals(written) !== true) {
    throw new LecternError('INTERNAL_ERROR', 'The store does not give back what was written to it');
  }
  await bucket.listUploads(`${layoutVersion}/`);
  await bucket.delete(name);
}
