import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { ArchiveWriter } from '../../worker/exports/archive-writer.ts';
import type { ArchiveSink } from '../../worker/exports/archive-writer.ts';
import type { ReadEntry } from './zip-readers.ts';
import { temporaryFolder } from '../support/folders.ts';

/** A file for an archive. */
export interface TestEntry {
  name: string;
  bytes: Uint8Array;
}

export const someTime = new Date('2026-01-15T09:00:00.000Z');

/** A sink that collects the written bytes. */
export function memorySink(): ArchiveSink & { bytes(): Buffer } {
  const written: Buffer[] = [];
  return {
    write: (chunks) => {
      // Copy the chunks, because the writer reuses them.
      written.push(Buffer.concat(chunks));
      return Promise.resolve();
    },
    bytes: () => Buffer.concat(written),
  };
}

/** Returns the archive of these files in memory. */
export async function archiveInMemory(entries: TestEntry[], time = someTime): Promise<Buffer> {
  const sink = memorySink();
  const writer = new ArchiveWriter(sink, time);
  for (const { name, bytes } of entries) await writer.add(name, digestOf(bytes), bytesOf(bytes));
  await writer.finish();
  return sink.bytes();
}

/** Writes the archive of these files to disk, for readers; the test removes it. */
export async function archiveOnDisk(entries: TestEntry[]): Promise<string> {
  const path = join(await temporaryFolder(), 'archive.zip');
  const file = await open(path, 'wx');
  try {
    await file.writeFile(await archiveInMemory(entries));
  } finally {
    await file.close();
  }
  return path;
}

/** The entries that a reader must find. */
export function expectedEntries(entries: TestEntry[]): ReadEntry[] {
  return entries.map(({ name, bytes }) => ({
    name,
    size: bytes.byteLength,
    sha256: digestOf(bytes).sha256,
  }));
}

/** Returns reproducible pseudo-random bytes. */
export function someBytes(size: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let state = seed;
  for (let index = 0; index < size; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
