import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import { fromBufferPromise } from 'yauzl';

/** Returns the files of a ZIP archive by name, in directory order. Fails on a checksum mismatch. */
export async function readArchive(bytes: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const zip = await fromBufferPromise(bytes);
  for await (const entry of zip.eachEntry()) {
    const content = await buffer(await zip.openReadStreamPromise(entry));
    expect({ name: entry.fileName, crc32: crc32(content), size: content.length }).toEqual({
      name: entry.fileName,
      crc32: entry.crc32,
      size: entry.uncompressedSize,
    });
    files.set(entry.fileName, content);
  }
  return files;
}

/** Parses a JSON file of an archive. */
export function readJson<T>(files: Map<string, Buffer>, name: string): T {
  return JSON.parse(files.get(name)?.toString('utf8') ?? '') as T;
}
