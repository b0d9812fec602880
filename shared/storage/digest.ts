import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Digest } from './store.ts';

/** The digests of bytes in memory. */
export function digestOf(bytes: Uint8Array): Digest {
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    crc32: crc32(bytes),
    size: bytes.byteLength,
  };
}

/** Bytes in memory, as the stream that stores and archives read. */
// eslint-disable-next-line @typescript-eslint/require-await -- an async iterable is what is wanted, not a wait
export async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
