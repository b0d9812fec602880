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

/** The digests of bytes that come in pieces. */
export async function digestOfChunks(chunks: AsyncIterable<Uint8Array>): Promise<Digest> {
  const hash = createHash('sha256');
  const digest = { crc32: 0, size: 0 };
  for await (const chunk of chunks) {
    hash.update(chunk);
    digest.crc32 = crc32(chunk, digest.crc32);
    digest.size += chunk.byteLength;
  }
  return { ...digest, sha256: hash.digest('hex') };
}

/** Bytes in memory, as the stream that stores and archives read. */
// eslint-disable-next-line @typescript-eslint/require-await -- an async iterable is what is wanted, not a wait
export async function* bytesOf(...bytes: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* bytes;
}
