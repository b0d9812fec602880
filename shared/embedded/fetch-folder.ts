import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** Running fetches touch their folder every half second, so an untouched folder belongs to a killed fetch. */
const abandonedAfterMs = 10 * 60_000;

/**
 * Runs `work` with a new folder inside the cache folder, and removes it afterward. It is beside the cache's files,
 * because a rename is atomic only within one filesystem. Removes the remains of killed processes first.
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

/** Marks a folder as in use by a running fetch; returns the bytes in it. */
export async function touchAndMeasure(folder: string): Promise<number> {
  const now = new Date();
  await utimes(folder, now, now);
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A file may be renamed or removed after the listing.
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      (info) => info.size,
      () => 0,
    );
  }
  return bytes;
}
