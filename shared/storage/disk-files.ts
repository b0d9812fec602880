import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../platform/errors.ts';
import { groupsOf } from '../platform/groups.ts';

/** Files per page of a listing. */
const listPage = 1000;

/** A file that readers do not see until {@link publish} gives it its final name. */
export interface Temporary {
  path: string;
  handle: FileHandle;
  /** Whether the file has its final name. */
  published: boolean;
  /** Closes the file and removes it unless it was published. Idempotent. */
  remove(): Promise<void>;
}

export async function createTemporary(folder: string): Promise<Temporary> {
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
export async function publish(temporary: Temporary, target: string, durable: boolean): Promise<void> {
  const folder = dirname(target);
  if (durable) await temporary.handle.sync();
  await inFolder(folder, () => rename(temporary.path, target), durable);
  temporary.published = true;
  if (durable) await syncFolder(folder);
}

/** Eviction may move a new folder away before its first file arrives. */
const folderAttempts = 5;

/** Runs an action in a folder, and creates the folder only if it is missing, because it nearly always exists. */
export async function inFolder<T>(folder: string, action: () => Promise<T>, durable = false): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || attempt === folderAttempts) throw error;
      const first = await mkdir(folder, { recursive: true });
      if (durable && first !== undefined) await syncNewFolders(first, folder);
    }
  }
}

/** Syncs new folders, so that a power failure does not lose them with their files. */
async function syncNewFolders(first: string, last: string): Promise<void> {
  for (let made = last; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Does nothing if eviction has moved the folder away. */
async function syncFolder(path: string): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  const handle = await open(path, flags).catch((error: unknown) => absent(error, null));
  if (handle === null) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Lists the paths `depth` folders below a folder, page by page. */
export async function* pagesOf(folder: string, depth: number): AsyncGenerator<string[]> {
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

export function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => absent(error, []));
}

export function statOf(path: string): Promise<Stats | null> {
  return stat(path).catch((error: unknown) => absent(error, null));
}

/** Returns `value` if an error reports that a file does not exist. @throws any other error. */
export function absent<T>(error: unknown, value: T): T {
  if (codeOf(error) === 'ENOENT') return value;
  throw error;
}

/** Removes what was not written in a folder for so long; returns the number of removed files. */
export async function sweep(folder: string, olderThanSeconds: number): Promise<number> {
  const newest = Date.now() - olderThanSeconds * 1000;
  let removed = 0;
  for (const name of await namesIn(folder)) {
    const found = await statOf(join(folder, name));
    if (found === null || found.mtimeMs > newest) continue;
    await rm(join(folder, name), { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}
