import type { Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';

import type { ZipEntry } from './zip-entries.ts';

/** The size of a local header without its name (APPNOTE.TXT 4.3.7). */
const headerSize = 30;
const headerSignature = 0x04034b50;

/** Identifies the listed file, to detect that its path leads to another one. */
export type FileIdentity = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs'>;

/**
 * Opens the unpacked bytes of an entry with a separate file descriptor, which is closed with the stream. yauzl's streams
 * can end the process when one is destroyed while another is read (yauzl 3.4: a queued read of a destroyed stream throws
 * an uncaught error).
 *
 * @throws {Error} when the two headers of the entry differ, or when the archive was replaced
 */
export async function openZipEntry(path: string, identity: FileIdentity, entry: ZipEntry): Promise<Readable> {
  const handle = await open(path);
  try {
    if (!isSame(await handle.stat(), identity)) throw new Error('the archive was changed meanwhile');
    const start = await dataStart(handle, entry);
    if (entry.compressedSize === 0) {
      await handle.close();
      return Readable.from([]);
    }
    const packed = handle.createReadStream({ start, end: start + entry.compressedSize - 1 });
    // The reader of the pipeline's last stream handles its errors.
    return entry.method === 8 ? pipeline(packed, createInflateRaw(), () => undefined) : packed;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function isSame(stats: FileIdentity, identity: FileIdentity): boolean {
  const { dev, ino, size, mtimeMs } = identity;
  return stats.dev === dev && stats.ino === ino && stats.size === size && stats.mtimeMs === mtimeMs;
}

async function dataStart(handle: FileHandle, entry: ZipEntry): Promise<number> {
  const { headerOffset, rawName, compressedSize, endLimit } = entry;
  const { buffer: header } = await handle.read({
    buffer: Buffer.alloc(headerSize + rawName.length),
    position: headerOffset,
  });
  if (header.readUInt32LE(0) !== headerSignature) throw new Error('it has no local header');
  if (header.readUInt16LE(8) !== entry.method)
    throw new Error('its local header has another compression method');
  const nameLength = header.readUInt16LE(26);
  if (nameLength !== rawName.length || !header.subarray(headerSize).equals(rawName)) {
    throw new Error('its local header has another name');
  }
  const start = headerOffset + headerSize + nameLength + header.readUInt16LE(28);
  if (start + compressedSize > endLimit) throw new Error('it overlaps with what follows it');
  return start;
}
