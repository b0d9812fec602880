import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Digest } from './store.ts';

/** Returns the digests of bytes in memory. */
export function digestOf(bytes: Uint8Array): Digest {
  return digestOfParts([bytes]);
}

/** Returns the digests of bytes in memory, in parts. */
export function digestOfParts(parts: readonly Uint8Array[]): Digest {
  const hash = createHash('sha256');
  const digest = { crc32: 0, size: 0 };
  for (const part of parts) {
    hash.update(part);
    digest.crc32 = crc32(part, digest.crc32);
    digest.size += part.byteLength;
  }
  return { ...digest, sha256: hash.digest('hex') };
}

/** Returns the digests of a stream of bytes. */
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

/** Returns bytes as the stream that stores and archives read. */
// oxlint-disable-next-line typescript/require-await -- callers need an async iterable, and nothing is awaited
export async function* bytesOf(...bytes: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* bytes;
}
