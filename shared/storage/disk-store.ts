import { open, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { LecternError, messageOf } from '../platform/errors.ts';
import { DiskCopies } from './disk-copies.ts';
import { absent, createTemporary, namesIn, pagesOf, publish, statOf, sweep } from './disk-files.ts';
import {
  EarlySyncWriter,
  fileInMemory,
  readAndClose,
  readBytes,
  readChunks,
  sendChunks,
  writeFully,
  writeSource,
} from './file-bytes.ts';
import type { ArchiveDraft, ArchiveStore, BlobStore, NameSet, OpenFile, Store } from './store.ts';

/** Part of every path, so that a later layout ignores old files instead of migrating them. */
const layoutVersion = 'v1';

/**
 * Creates the store in a folder. Several hosts may share it if it is one filesystem with atomic renames.
 *
 * ```
 * v1/assets/ab/<sha256>            v1/cache/ab/<sha256>
 * v1/archives/ab/<key>/<sha256>.zip
 * v1/erasures/<name>               the ledger of erasures: empty files
 * v1/identity/<uuid>               the name of the store, which MongoDB knows: an empty file
 * v1/tmp/<uuid>                    incomplete files, on the same filesystem, so that a rename publishes them
 * ```
 */
export function createDiskStore(folder: string): Store {
  const root = join(folder, layoutVersion);
  const temporaries = join(root, 'tmp');
  const copies = new DiskCopies(root, temporaries);
  const shared = { root, temporaries };
  return {
    // A lost upload would be lost data, so assets are synced. A lost file of the cache is downloaded again.
    assets: createBlobStore(join(root, 'assets'), shared, null),
    cache: createBlobStore(join(root, 'cache'), shared, copies),
    archives: createArchiveStore(join(root, 'archives'), shared, copies),
    copies,
    erasures: createNameSet(join(root, 'erasures'), temporaries),
    identity: createNameSet(join(root, 'identity'), temporaries),
    sweepTemporaries: (olderThanSeconds) => sweep(temporaries, olderThanSeconds),
    check: async () => ({ place: folder, ...(await check(temporaries)) }),
    ping: async () => void (await check(temporaries)),
  };
}

interface Shared {
  /** The folder of the layout. */
  root: string;
  /** The folder of incomplete files. */
  temporaries: string;
}

/** @param copies the copies that the blobs belong to; null for blobs that exist only here. */
function createBlobStore(
  folder: string,
  { root, temporaries }: Shared,
  copies: DiskCopies | null,
): BlobStore {
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256);
  return {
    async put(source, announce) {
      const temporary = await createTemporary(temporaries);
      try {
        const { digest, small } = await writeSource(temporary.handle, source, () => copies?.assertRoom());
        await announce?.(digest, small);
        // Existing files are replaced too, which repairs damaged ones.
        await publish(temporary, pathOf(digest.sha256), copies === null);
        return digest;
      } finally {
        await temporary.remove();
      }
    },
    async has({ sha256, size }) {
      const path = pathOf(sha256);
      return (await (copies === null ? statOf(path) : copies.use(path)))?.size === size;
    },
    async open({ sha256, size }, reading = 'parts') {
      const path = pathOf(sha256);
      const file = await openForReading(path, { root, copies }, reading === 'whole' ? size : undefined);
      if (file === null || file.size === size) return file;
      await file.close();
      return null;
    },
    delete: (sha256) => rm(pathOf(sha256), { force: true }),
    presignedUrl: () => Promise.resolve(null),
  };
}

const isArchiveName = (name: string) => /^[0-9a-f]{64}\.zip$/.test(name);

function createArchiveStore(folder: string, { root, temporaries }: Shared, copies: DiskCopies): ArchiveStore {
  // All keys begin with the same letter.
  const folderOf = (key: string) => join(folder, key.slice(1, 3), key);
  return {
    async open(key) {
      const own = folderOf(key);
      if ((await copies.use(own)) === null) return null;
      // The digest is the file's name, so that one atomic rename publishes bytes and digest together.
      const names = (await namesIn(own)).filter(isArchiveName);
      const archives = await Promise.all(
        names.map(async (name) => ({ name, changed: (await statOf(join(own, name)))?.mtimeMs ?? 0 })),
      );
      archives.sort((a, b) => b.changed - a.changed);
      for (const { name } of archives) {
        const file = await openForReading(join(own, name), { root, copies: null });
        if (file !== null) {
          return { ...file, sha256: name.replace('.zip', ''), presignedUrl: () => Promise.resolve(null) };
        }
      }
      return null;
    },
    has: async (key) => (await namesIn(folderOf(key))).some(isArchiveName),
    async create(): Promise<ArchiveDraft> {
      const temporary = await createTemporary(temporaries);
      const writer = new EarlySyncWriter(temporary.handle);
      return {
        async write(chunks) {
          await copies.assertRoom();
          await writer.write(chunks);
        },
        async publish(key, sha256) {
          await writer.synced();
          await publish(temporary, join(folderOf(key), `${sha256}.zip`), true);
        },
        discard: () => temporary.remove(),
      };
    },
    delete: (key) => rm(folderOf(key), { recursive: true, force: true }),
  };
}

function createNameSet(folder: string, temporaries: string): NameSet {
  return {
    async add(name) {
      const temporary = await createTemporary(temporaries);
      try {
        await publish(temporary, join(folder, name), true);
      } finally {
        await temporary.remove();
      }
    },
    async *list() {
      for await (const paths of pagesOf(folder, 0)) yield paths.map((path) => basename(path));
    },
  };
}

interface ReadOptions extends Pick<Shared, 'root'> {
  /** Null for a file whose use nothing records. */
  copies: DiskCopies | null;
}

/** @param wholeBytes the expected size of a file that is read as a whole: a small one is read at once, and closed. */
async function openForReading(
  path: string,
  { root, copies }: ReadOptions,
  wholeBytes = Infinity,
): Promise<OpenFile | null> {
  const handle = await open(path, 'r').catch((error: unknown) => absent(error, null));
  if (handle === null) return null;
  if (copies !== null) await copies.useOpen(handle);
  const bytes = wholeBytes <= readBytes ? await readAndClose(handle, wholeBytes) : null;
  const proxySource: OpenFile['proxySource'] = () =>
    Promise.resolve({ kind: 'file', path, name: relative(root, path) });
  if (bytes !== null) return fileInMemory(bytes, proxySource);
  // The size comes from the open file, because another file may take its name in the meantime.
  const { size } = await handle.stat();
  return {
    size,
    chunks: (start = 0, end = size) => readChunks(handle, path, { start, end, size }),
    send: (write, start = 0, end = size) => sendChunks(handle, path, { start, end, size }, write),
    proxySource,
    close: () => handle.close(),
  };
}

/**
 * Writes and removes a file; returns the free bytes.
 *
 * @throws {LecternError} INTERNAL_ERROR when the store is not writable.
 */
async function check(temporaries: string): Promise<{ freeBytes: number; sizeBytes: number }> {
  try {
    const temporary = await createTemporary(temporaries);
    try {
      await writeFully(temporary.handle, [Buffer.from('lectern')]);
    } finally {
      await temporary.remove();
    }
    const { bavail, blocks, bsize } = await statfs(temporaries);
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
  } catch (error) {
    throw new LecternError(
      'INTERNAL_ERROR',
      `The store in ${dirname(temporaries)} cannot be written to: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}
