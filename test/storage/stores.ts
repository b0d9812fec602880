import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createDiskStore } from '../../shared/storage/disk-store.ts';
import type { OpenFile, Store } from '../../shared/storage/store.ts';

export interface TestStore {
  store: Store;
  folder: string;
  /** Every file below the folder, sorted: `v1/assets/ab/<sha256>`. */
  files: () => Promise<string[]>;
}

/** An empty disk store in a folder of its own, gone after the test. */
export async function startStore(): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-store-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { store: createDiskStore(folder), folder, files: () => filesBelow(folder) };
}

/** The paths of all files below a folder, sorted; none when there is no such folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** All bytes of an open file, or those between two positions; the file stays open. */
export async function read(file: OpenFile | null, start?: number, end?: number): Promise<Buffer> {
  if (file === null) throw new Error('There is no such file');
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks(start, end)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
