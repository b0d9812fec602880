import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { rename, rm, statfs, utimes } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { codeOf } from '../platform/errors.ts';
import { absent, inFolder, namesIn, pagesOf, statOf } from './disk-files.ts';
import { StoreFull, useResolutionMs } from './store.ts';
import type { Copies, StoredCopy } from './store.ts';

/** The share of the filesystem that copies leave free, for imports and the ledger of erasures. */
const reservedShare = 0.05;

/** The minimum time between two checks for free space. */
const roomIntervalMs = 250;

/** Other programs may leave files here, such as a network filesystem in place of a deleted file. */
const isDigest = (name: string) => /^[0-9a-f]{64}$/.test(name);
const isArchiveKey = (name: string) => /^x[\w-]+$/.test(name);

/**
 * Downloads and archives in a folder. The last use is the modification time: of a download's file, and of the folder
 * with the archives of a key.
 */
export class DiskCopies implements Copies {
  readonly #root: string;
  readonly #temporaries: string;
  #roomAt = -Infinity;

  /** @param root with the folders `cache` and `archives`. */
  constructor(root: string, temporaries: string) {
    this.#root = root;
    this.#temporaries = temporaries;
  }

  /**
   * Records that a download, or an archive's folder, is used now. The caller looks for the bytes afterward: from then on,
   * no evictor removes them.
   *
   * @returns null if it does not exist.
   */
  async use(path: string): Promise<Stats | null> {
    const found = await statOf(path);
    if (found === null || isRecent(found)) return found;
    const now = new Date();
    // Fails if an evictor has moved it aside.
    return utimes(path, now, now).then(
      () => found,
      (error: unknown) => absent(error, null),
    );
  }

  /** As {@link DiskCopies.use}, for an open file, which stays readable even if it is removed. */
  async useOpen(handle: FileHandle): Promise<void> {
    if (!isRecent(await handle.stat())) await handle.utimes(new Date(), new Date());
  }

  /** @throws {StoreFull} if the filesystem has no room for more copies. */
  async assertRoom(): Promise<void> {
    if (performance.now() - this.#roomAt < roomIntervalMs) return;
    const { bavail, blocks, bsize } = await statfs(this.#temporaries);
    if (bavail < blocks * reservedShare) {
      const [free, size] = [bavail, blocks].map((count) => `${((count * bsize) / 1e9).toFixed(1)} GB`);
      throw new StoreFull(
        `${free} of ${size} are free on the disk of ${this.#root}, and exports leave ${reservedShare * 100} % for ` +
          'imports. Free disk space, or lower STORE_MAX_BYTES',
      );
    }
    this.#roomAt = performance.now();
  }

  async *list(): AsyncGenerator<StoredCopy[]> {
    for await (const paths of pagesOf(join(this.#root, 'cache'), 1)) {
      yield this.#describe(paths.filter((path) => isDigest(basename(path))));
    }
    for await (const paths of pagesOf(join(this.#root, 'archives'), 1)) {
      yield this.#describe(paths.filter((path) => isArchiveKey(basename(path))));
    }
  }

  /** Returns a page of a listing, without what was removed meanwhile. */
  async #describe(paths: string[]): Promise<StoredCopy[]> {
    const found = await Promise.all(
      paths.map(async (path): Promise<StoredCopy | null> => {
        const copy = await statOf(path);
        if (copy === null) return null;
        const size = copy.isDirectory() ? await sizeOfFiles(path) : copy.size;
        return { name: relative(this.#root, path), size, usedAt: copy.mtime };
      }),
    );
    return found.flatMap((one) => one ?? []);
  }

  /** Moves the copy aside before the last check, because it may be used or stored again at any moment. */
  async evict({ name }: StoredCopy, unusedSince: Date): Promise<boolean> {
    const path = join(this.#root, name);
    const aside = join(this.#temporaries, randomUUID());
    const isMoved = await inFolder(this.#temporaries, () => rename(path, aside)).then(
      () => true,
      (error: unknown) => absent(error, false),
    );
    if (!isMoved) return false;
    const found = await statOf(aside);
    const isUsed = found !== null && found.mtime > unusedSince;
    // An archive that was stored again meanwhile stays in place of this one.
    if (isUsed) await rename(aside, path).catch(ignoreNonEmptyFolder);
    await rm(aside, { recursive: true, force: true });
    return !isUsed;
  }
}

function isRecent({ mtimeMs }: Stats): boolean {
  return Date.now() - mtimeMs < useResolutionMs;
}

async function sizeOfFiles(folder: string): Promise<number> {
  const files = await Promise.all((await namesIn(folder)).map((name) => statOf(join(folder, name))));
  return files.reduce((sum, file) => sum + (file?.size ?? 0), 0);
}

function ignoreNonEmptyFolder(error: unknown): void {
  if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
}
