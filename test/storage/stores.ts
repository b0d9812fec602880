import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDiskStore } from '../../shared/storage/disk-store.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import type { ArchiveStore, OpenFile } from '../../shared/storage/store.ts';
import { temporaryFolder } from '../support/folders.ts';

/** Reads an open file and closes it. */
export async function readAndClose(file: OpenFile | null): Promise<Buffer> {
  try {
    return await read(file);
  } finally {
    await file?.close();
  }
}

export type TestStore = Omit<Awaited<ReturnType<typeof startStore>>, 'folder'>;

/** Creates an empty disk store in a new folder, until the end of the test. */
export async function startStore() {
  const folder = await temporaryFolder();
  return {
    store: createDiskStore(folder),
    folder,
    /** Returns the names of all stored files, sorted: `v1/assets/ab/<sha256>`. */
    files: () => filesBelow(folder),
    /** Overwrites a file with other bytes, like a fault of the store. */
    damage: (name: string, bytes: Uint8Array) => writeFile(join(folder, name), bytes),
  };
}

/** Returns the paths of all files below a folder, sorted; none if there is no such folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Reads an open file, or the bytes between two positions; the file stays open. */
export async function read(file: OpenFile | null, start?: number, end?: number): Promise<Buffer> {
  if (file === null) throw new Error('There is no such file');
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks(start, end)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export const archiveKey = `x${'0'.repeat(40)}`;

/** Writes an archive in two pieces and publishes it. */
export async function storeArchive(archives: ArchiveStore, key: string, bytes: Uint8Array): Promise<void> {
  const draft = await archives.create();
  await draft.write([bytes.subarray(0, 1000), bytes.subarray(1000)]);
  await draft.publish(key, digestOf(bytes).sha256);
  await draft.discard();
}
