import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, LecternError, messageOf } from '../platform/errors.ts';
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
import { BufferPool } from './buffer-pool.ts';
import { ProxyLinks } from './proxy-links.ts';
import type {
  ArchiveDraft,
  ArchiveStore,
  BlobStore,
  ListedArchive,
  NameSet,
  OpenFile,
  Store,
} from './store.ts';
import { groupsOf } from '../platform/groups.ts';

/** Part of every path, so that a later layout ignores old files instead of migrating them. */
const layoutVersion = 'v1';

/** Files per page of a listing. */
const listPage = 1000;

/**
 * Creates the store in a folder. Several hosts may share it if it is one filesystem with atomic renames.
 *
 * ```
 * v1/assets/ab/<sha256>            v1/cache/ab/<sha256>
 * v1/archives/ab/<key>/<sha256>.zip
 * v1/erasures/<name>               the ledger of erasures: empty files
 * v1/identity/<uuid>               the name of the store, which MongoDB knows: an empty file
 * v1/tmp/<uuid>                    incomplete files, on the same filesystem, so that a rename publishes them
 * v1/proxied/<time>-<uuid>         links to files that a proxy is about to send
 * ```
 */
export function createDiskStore(folder: string): Store {
  const root = join(folder, layoutVersion);
  const temporaries = join(root, 'tmp');
  const links = new ProxyLinks(join(root, 'proxied'));
  const shared = { temporaries, buffers: new BufferPool(), links };
  return {
    // A lost upload would be lost data, so assets are synced. A lost file of the cache is downloaded again.
    assets: createBlobStore(join(root, 'assets'), { ...shared, durable: true }),
    cache: createBlobStore(join(root, 'cache'), { ...shared, durable: false }),
    archives: createArchiveStore(join(root, 'archives'), shared),
    erasures: createNameSet(join(root, 'erasures'), temporaries),
    identity: createNameSet(join(root, 'identity'), temporaries),
    sweepTemporaries: async (olderThanSeconds) =>
      (await sweep(temporaries, olderThanSeconds)) + (await links.sweep(olderThanSeconds)),
    check: async () => ({ place: folder, ...(await check(temporaries)) }),
    ping: async () => void (await check(temporaries)),
  };
}

interface Shared {
  /** The folder of incomplete files. */
  temporaries: string;
  /** The buffers for sending files. */
  buffers: BufferPool;
  links: ProxyLinks;
}

function createBlobStore(
  root: string,
  { temporaries, durable, ...readers }: Shared & { durable: boolean },
): BlobStore {
  const pathOf = (sha256: string) => join(root, sha256.slice(0, 2), sha256);
  return {
    async put(source, announce) {
      const temporary = await createTemporary(temporaries);
      try {
        const { digest, small } = await writeSource(temporary.handle, source);
        await announce?.(digest, small);
        // Existing files are replaced too, which repairs damaged ones.
        await publish(temporary, pathOf(digest.sha256), durable);
        return digest;
      } finally {
        await temporary.remove();
      }
    },
    async has({ sha256, size }) {
      return (await sizeOf(pathOf(sha256))) === size;
    },
    async open({ sha256, size }, reading = 'parts') {
      const file = await openForReading(pathOf(sha256), readers, reading === 'whole' ? size : undefined);
      if (file === null || file.size === size) return file;
      await file.close();
      return null;
    },
    delete: (sha256) => rm(pathOf(sha256), { force: true }),
    async *list() {
      for await (const paths of pagesOf(root, 1)) {
        const found = await Promise.all(paths.filter((path) => isDigest(basename(path))).map(describe));
        yield found.flatMap((one) => one ?? []).map(({ name, ...rest }) => ({ sha256: name, ...rest }));
      }
    },
    presignedUrl: () => Promise.resolve(null),
  };
}

function createArchiveStore(root: string, { temporaries, ...readers }: Shared): ArchiveStore {
  // All keys begin with the same letter.
  const folderOf = (key: string) => join(root, key.slice(1, 3), key);
  return {
    async open(key) {
      // The digest is the file's name, so that one atomic rename publishes bytes and digest together.
      const names = (await namesIn(folderOf(key))).filter(isArchiveName);
      const archives = await Promise.all(
        names.map(async (name) => ({ name, changed: (await timeOf(join(folderOf(key), name))) ?? 0 })),
      );
      archives.sort((a, b) => b.changed - a.changed);
      for (const { name, changed } of archives) {
        const file = await openForReading(join(folderOf(key), name), readers);
        if (file !== null) return { ...file, sha256: name.replace('.zip', ''), storedAt: new Date(changed) };
      }
      return null;
    },
    has: async (key) => (await namesIn(folderOf(key))).some(isArchiveName),
    async create(): Promise<ArchiveDraft> {
      const temporary = await createTemporary(temporaries);
      const writer = new EarlySyncWriter(temporary.handle);
      return {
        write: (chunks) => writer.write(chunks),
        async publish(key, sha256) {
          await writer.synced();
          await publish(temporary, join(folderOf(key), `${sha256}.zip`), true);
        },
        discard: () => temporary.remove(),
      };
    },
    delete: (key) => rm(folderOf(key), { recursive: true, force: true }),
    async *list() {
      for await (const paths of pagesOf(root, 2)) {
        const found = await Promise.all(
          paths.map(async (path): Promise<ListedArchive[]> => {
            const file = isArchiveName(basename(path)) ? await describe(path) : null;
            if (file === null) return [];
            const { name, size, storedAt } = file;
            return [{ key: basename(dirname(path)), sha256: name.replace('.zip', ''), size, storedAt }];
          }),
        );
        yield found.flat();
      }
    },
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

/** Lists the paths of files `depth` folders below a folder, page by page. */
async function* pagesOf(folder: string, depth: number): AsyncGenerator<string[]> {
  const names = await namesIn(folder).catch((error: unknown) => {
    // Stray files among the folders do not belong to the store.
    if (codeOf(error) === 'ENOTDIR') return [];
    throw error;
  });
  const paths = names.map((name) => join(folder, name));
  if (depth > 0) {
    for (const path of paths) yield* pagesOf(path, depth - 1);
    return;
  }
  yield* groupsOf(paths, listPage);
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => absent(error, []));
}

/** Other programs may leave files here, such as a network filesystem in place of a deleted file. */
const isDigest = (name: string) => /^[0-9a-f]{64}$/.test(name);
const isArchiveName = (name: string) => /^[0-9a-f]{64}\.zip$/.test(name);

async function describe(path: string): Promise<{ name: string; size: number; storedAt: Date } | null> {
  const found = await stat(path).catch((error: unknown) => absent(error, null));
  return found && { name: basename(path), size: found.size, storedAt: found.mtime };
}

interface Temporary {
  path: string;
  handle: FileHandle;
  /** Whether the file has its final name. */
  published: boolean;
  /** Closes the file and removes it unless it was published. Idempotent. */
  remove(): Promise<void>;
}

async function createTemporary(folder: string): Promise<Temporary> {
  const path = join(folder, randomUUID());
  const handle = await inFolder(folder, () => open(path, 'wx'));
  let closed = false;
  const temporary: Temporary = {
    path,
    handle,
    published: false,
    async remove() {
      if (closed) return;
      closed = true;
      await handle.close();
      if (!temporary.published) await rm(path, { force: true });
    },
  };
  return temporary;
}

/** Renames a complete temporary file to its final path. A durable file survives a power failure once this resolves. */
async function publish(temporary: Temporary, target: string, durable: boolean): Promise<void> {
  const folder = dirname(target);
  if (durable) await temporary.handle.sync();
  await inFolder(folder, () => rename(temporary.path, target), durable);
  temporary.published = true;
  if (durable) await syncFolder(folder);
}

/** Runs an action in a folder, and creates the folder only if it is missing, because it nearly always exists. */
async function inFolder<T>(folder: string, action: () => Promise<T>, durable = false): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const first = await mkdir(folder, { recursive: true });
    if (durable && first !== undefined) await syncNewFolders(first, folder);
    return action();
  }
}

/** Syncs new folders, so that a power failure does not lose them with their files. */
async function syncNewFolders(first: string, last: string): Promise<void> {
  for (let made = last; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** @param wholeBytes the expected size of a file that is read as a whole: a small one is read at once, and closed. */
async function openForReading(
  path: string,
  { buffers, links }: Omit<Shared, 'temporaries'>,
  wholeBytes = Infinity,
): Promise<OpenFile | null> {
  const handle = await open(path, 'r').catch((error: unknown) => absent(error, null));
  if (handle === null) return null;
  const bytes = wholeBytes <= readBytes ? await readAndClose(handle, wholeBytes) : null;
  if (bytes !== null) return fileInMemory(bytes, () => links.linkTo(path));
  // The size comes from the open file, because another file may take its name in the meantime.
  const { size } = await handle.stat();
  return {
    size,
    chunks: (start = 0, end = size) => readChunks(handle, path, { start, end, size }),
    send: (write, start = 0, end = size) =>
      sendChunks(handle, path, { start, end, size }, { buffers, write }),
    linkForProxy: () => links.linkTo(path),
    close: () => handle.close(),
  };
}

async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    (found) => found.size,
    (error: unknown) => absent(error, null),
  );
}

async function timeOf(path: string): Promise<number | null> {
  return stat(path).then(
    (found) => found.mtimeMs,
    (error: unknown) => absent(error, null),
  );
}

function absent<T>(error: unknown, value: T): T {
  if (codeOf(error) === 'ENOENT') return value;
  throw error;
}

async function sweep(folder: string, olderThanSeconds: number): Promise<number> {
  const names = await namesIn(folder);
  const newest = Date.now() - olderThanSeconds * 1000;
  let removed = 0;
  for (const name of names) {
    const changed = await timeOf(join(folder, name));
    if (changed === null || changed > newest) continue;
    // Another sweep may have removed it.
    await unlink(join(folder, name)).catch((error: unknown) => absent(error, undefined));
    removed += 1;
  }
  return removed;
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
