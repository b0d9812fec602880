import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { messageOf } from '../platform/errors.ts';
import type { Digest } from '../storage/store.ts';
import { PackageError } from './package-error.ts';

/**
 * Returns a stream over a file of a package that fails unless it has exactly the expected bytes. The source is opened at
 * the first read and closed with the stream; its errors become PackageErrors.
 *
 * @param place the file, for messages
 * @param expected the size in bytes, and the CRC-32 if it is known
 */
export function checkedStream(
  place: string,
  expected: { size: number; crc32?: number },
  openSource: () => Promise<Readable>,
): Readable {
  return Readable.from(checkedChunks(place, expected, openSource), { objectMode: false });
}

async function* checkedChunks(
  place: string,
  expected: { size: number; crc32?: number },
  openSource: () => Promise<Readable>,
): AsyncGenerator<Buffer> {
  let size = 0;
  let checksum = 0;
  try {
    for await (const chunk of await openSource()) {
      const bytes = chunk as Buffer;
      size += bytes.length;
      if (size > expected.size)
        throw new PackageError([`${place}: holds more than its ${expected.size} bytes`]);
      if (expected.crc32 !== undefined) checksum = crc32(bytes, checksum);
      yield bytes;
    }
  } catch (error) {
    if (error instanceof PackageError) throw error;
    throw new PackageError([`${place}: is damaged or cannot be read (${messageOf(error)})`], {
      cause: error,
    });
  }
  if (size < expected.size)
    throw new PackageError([`${place}: ends after ${size} of ${expected.size} bytes`]);
  if (expected.crc32 !== undefined && checksum !== expected.crc32) {
    throw new PackageError([`${place}: is damaged: its CRC-32 does not match`]);
  }
}

/**
 * Compares a file's digest with the digest in the manifest.
 *
 * @param expected lower-case hex; undefined if the manifest has no digest
 * @throws {PackageError} naming the file
 */
export function checkDigest(
  path: string,
  { sha256 }: Pick<Digest, 'sha256'>,
  expected: string | undefined,
): void {
  if (expected === undefined || sha256 === expected) return;
  throw new PackageError([`${path}: its SHA-256 is ${sha256}, and manifest.json says ${expected}`]);
}
