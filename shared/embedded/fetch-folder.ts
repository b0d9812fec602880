import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** A fetch touches its folder every half second; one untouched for so long belongs to a fetch that was killed. */
const abandonedAfterMs = 10 * 60_000;

/**
 * Runs `work` with a new folder inside the cache folder that no other process uses, and removes the folder
 * afterwards. Beside the cache's own files, as a rename is atomic only within one filesystem. What killed
 * processes left behind is removed first.
 */
export async function withFetchFolder<T>(cacheDir: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(cacheDir, { recursive: true });
  await removeAbandoned(cacheDir);
  const folder = join(cacheDir, `fetch-${randomUUID()}`);
  await mkdir(folder);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith('fetch-')) continue;
    const folder = join(cacheDir, name);
    const info = await stat(folder).catch(() => undefined);
    if (info && Date.now() - info.mtimeMs > abandonedAfterMs)
      await rm(folder, { recursive: true, force: true });
  }
}

/** Marks a folder as one that a living process fetches into, and returns the bytes in it. */
export async function touchAndMeasure(folder: string): Promise<number> {
  const now = new Date();
  await utimes(folder, now, now);
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A file may be renamed or removed between the listing and the look.
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      (info) => info.size,
      () => 0,
    );
  }
  return bytes;
}
