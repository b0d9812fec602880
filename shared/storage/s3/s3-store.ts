import { randomUUID } from 'node:crypto';
import { LecternError } from '../../platform/errors.ts';
import { noLastUses } from '../store.ts';
import type {
  ArchiveStore,
  BlobStore,
  Copies,
  LastUses,
  NameSet,
  OpenFile,
  PresignedUrlOptions,
  Store,
  StoredCopy,
} from '../store.ts';
import { ArchivePointers } from './archive-pointers.ts';
import { Bucket } from './bucket.ts';
import { locationOf } from './faults.ts';
import { defaultLimits } from './settings.ts';
import type { S3Limits, S3Settings } from './settings.ts';
import { withSpool } from './spool.ts';
import { sweepBucket } from './sweep-bucket.ts';

/** Part of every name, so that a later layout ignores old objects instead of migrating them. */
export const layoutVersion = 'v1';

/** Bytes that opening a blob fetches: most pictures completely, with one request. */
const firstBytes = 256 * 1024;

/** The lifetime of a URL for a proxy, which requests it at once. Clocks may differ. */
const proxyUrlSeconds = 300;

/** How long readers of an archive may take that lost its pointer. */
const unreadArchiveMs = 24 * 3_600_000;

/** The attempts of a check: the start of a process and `lectern doctor` need a quick result. */
const checkAttempts = 3;

/** S3 allows 10,000 parts. */
const maxParts = 10_000;

export interface S3StoreOptions {
  lastUses: LastUses;
  /** A local folder for blobs before their upload. */
  spoolFolder: string;
  /** The size of the parts of an upload, except for the last and for blobs that are too large for 10,000 such parts. */
  partBytes: number;
  limits?: S3Limits;
  /** How long the file of a replaced or removed archive stays after its last opening, for its readers. */
  unreadMs?: number;
}

/**
 * Creates the store in a bucket of an S3-compatible service, which any number of hosts may share.
 *
 * ```
 * v1/assets/ab/<sha256>        v1/cache/ab/<sha256>
 * v1/archive-files/<uuid>      bytes of archives, sent during the build; readers need a pointer to find them
 * v1/archives/<key>            pointers: a small JSON text that names file, size and SHA-256; its PUT publishes
 * v1/erasures/<name>           the ledger of erasures: empty objects
 * v1/identity/<uuid>           the name of the store, which MongoDB knows: an empty object
 * v1/checks/<uuid>             written and deleted by checks
 * ```
 *
 * Objects appear atomically, so a writer that dies leaves only an upload, or a file without a pointer.
 */
export function createS3Store(settings: S3Settings, options: S3StoreOptions): Store {
  const limits = options.limits ?? defaultLimits;
  const bucket = new Bucket(settings, limits);
  const quick = new Bucket(settings, {
    ...limits,
    maxAttempts: Math.min(limits.maxAttempts, checkAttempts),
  });
  const pointers = new ArchivePointers(bucket, `${layoutVersion}/archives/`);
  const { lastUses, unreadMs = unreadArchiveMs } = options;
  return {
    assets: createBlobStore(bucket, `${layoutVersion}/assets/`, settings, {
      ...options,
      lastUses: noLastUses,
    }),
    cache: createBlobStore(bucket, `${layoutVersion}/cache/`, settings, options),
    archives: createArchiveStore(bucket, pointers, settings, options),
    copies: createCopies(bucket, pointers, lastUses),
    erasures: createNameSet(bucket, `${layoutVersion}/erasures/`),
    identity: createNameSet(bucket, `${layoutVersion}/identity/`),
    sweepTemporaries: (olderThanSeconds, signal) =>
      sweepBucket(bucket, { pointers, lastUses, layoutVersion, unreadMs }, { olderThanSeconds, signal }),
    async check() {
      await check(quick);
      return { place: locationOf(settings), freeBytes: null, sizeBytes: null };
    },
    ping: () => quick.ping(),
  };
}

function createNameSet(bucket: Bucket, folder: string): NameSet {
  return {
    add: (name) => bucket.put(folder + name, new Uint8Array()),
    async *list() {
      for await (const page of bucket.list(folder)) yield page.map(({ name }) => name.slice(folder.length));
    },
  };
}

function createBlobStore(
  bucket: Bucket,
  folder: string,
  { presignedReads }: S3Settings,
  { spoolFolder, partBytes, lastUses }: S3StoreOptions,
): BlobStore {
  const nameOf = (sha256: string) => `${folder}${sha256.slice(0, 2)}/${sha256}`;
  return {
    put(source, announce) {
      return withSpool(spoolFolder, source, async ({ digest, small, chunks }) => {
        await announce?.(digest, small);
        await lastUses.touch(nameOf(digest.sha256));
        // Existing blobs are replaced too, which repairs damaged ones.
        const upload = bucket.upload(
          nameOf(digest.sha256),
          Math.max(partBytes, Math.ceil(digest.size / maxParts)),
        );
        try {
          for await (const chunk of chunks()) await upload.write([chunk]);
          await upload.finish();
        } catch (error) {
          await upload.discard();
          throw error;
        }
        return digest;
      });
    },
    async has({ sha256, size }) {
      await lastUses.touch(nameOf(sha256));
      return (await bucket.sizeOf(nameOf(sha256))) === size;
    },
    async open({ sha256, size }) {
      const name = nameOf(sha256);
      await lastUses.touch(name);
      if (size === 0) return (await bucket.sizeOf(name)) === 0 ? openObject(bucket, name, 0) : null;
      const start = await bucket.getStart(name, Math.min(size, firstBytes));
      return start?.size === size ? openObject(bucket, name, size, start.bytes) : null;
    },
    delete: (sha256) => bucket.delete(nameOf(sha256)),
    presignedUrl: async (sha256, wanted) =>
      presignedReads ? presignedUrl(bucket, nameOf(sha256), wanted) : null,
  };
}

function createArchiveStore(
  bucket: Bucket,
  pointers: ArchivePointers,
  { presignedReads }: S3Settings,
  { partBytes, lastUses }: S3StoreOptions,
): ArchiveStore {
  return {
    async open(key) {
      const pointer = await pointers.find(key);
      if (pointer === null) return null;
      const { file, size, sha256 } = pointer;
      // A pointer whose file is missing or has another size does not count: the archive is built again.
      const name = fileName(file);
      await lastUses.touch(name);
      if ((await bucket.sizeOf(name)) !== size) return null;
      return {
        ...openObject(bucket, name, size),
        sha256,
        presignedUrl: async (wanted) => (presignedReads ? presignedUrl(bucket, name, wanted) : null),
      };
    },
    has: async (key) => (await pointers.find(key)) !== null,
    create() {
      const file = randomUUID();
      const upload = bucket.upload(fileName(file), partBytes);
      let size = 0;
      let published = false;
      return Promise.resolve({
        async write(chunks) {
          for (const chunk of chunks) size += chunk.byteLength;
          await upload.write(chunks);
        },
        async publish(key, sha256) {
          await upload.finish();
          await lastUses.touch(fileName(file));
          await pointers.put(key, { file, size, sha256 });
          published = true;
        },
        discard: async () => {
          if (!published) await upload.discard();
        },
      });
    },
    // Readers can still read its file, until sweeps remove it.
    delete: (key) => pointers.delete(key),
  };
}

const fileName = (file: string) => `${layoutVersion}/archive-files/${file}`;

/** Downloads are removed with their objects, and archives with their pointers: readers keep the file of an archive. */
function createCopies(bucket: Bucket, pointers: ArchivePointers, lastUses: LastUses): Copies {
  const describe = async (
    listed: (Omit<StoredCopy, 'usedAt'> & { object: string; modified: Date })[],
  ): Promise<StoredCopy[]> => {
    const uses = await lastUses.find(listed.map(({ object }) => object));
    return listed.map(({ name, size, object, modified }) => ({
      name,
      size,
      usedAt: uses.get(object) ?? modified,
    }));
  };
  return {
    async *list() {
      for await (const page of bucket.list(`${layoutVersion}/cache/`))
        yield describe(page.map((listed) => ({ ...listed, object: listed.name })));
      for await (const page of pointers.list())
        yield describe(page.map((listed) => ({ ...listed, object: fileName(listed.file) })));
    },
    async evict({ name }, unusedSince) {
      const pointer = pointers.isPointer(name) ? await pointers.read(name) : null;
      const object = pointer === null ? name : fileName(pointer.file);
      const usedAt = (await lastUses.find([object])).get(object);
      if (usedAt !== undefined && usedAt > unusedSince) return false;
      await bucket.delete(name);
      return true;
    },
  };
}

/** @param first the first bytes of the object, if known. */
function openObject(bucket: Bucket, name: string, size: number, first?: Uint8Array): OpenFile {
  let kept = first;
  // A separate function, so that a stalled reader does not keep these bytes in memory: they are usually read once.
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
    // The proxy would fetch again what is in memory.
    proxySource: async () =>
      (kept?.byteLength ?? 0) === size ? null : { kind: 'object', target: await proxyTarget(bucket, name) },
    close: () => Promise.resolve(),
  };
}

/** Returns path and query of a presigned URL of an object, without the leading slash. */
async function proxyTarget(bucket: Bucket, name: string): Promise<string> {
  const { pathname, search } = await bucket.presign(name, { seconds: proxyUrlSeconds });
  return pathname.slice(1) + search;
}

async function presignedUrl(
  bucket: Bucket,
  name: string,
  { seconds, contentType, contentDisposition }: PresignedUrlOptions,
): Promise<string> {
  const response = { 'content-type': contentType, 'content-disposition': contentDisposition };
  return (await bucket.presign(name, { seconds, response })).href;
}

/** Performs every kind of operation of the store on a test object, to check all required permissions. */
async function check(bucket: Bucket): Promise<void> {
  const name = `${layoutVersion}/checks/${randomUUID()}`;
  const written = Buffer.from('lectern');
  await bucket.list(`${layoutVersion}/checks/`).next();
  await bucket.put(name, written);
  const read = await bucket.getStart(name, written.length);
  if (read?.bytes.equals(written) !== true) {
    throw new LecternError(
      'INTERNAL_ERROR',
      'The store returned other bytes than were written. Check the S3 service and proxies in front of it.',
    );
  }
  await bucket.delete(name);
}
