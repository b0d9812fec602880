import { randomUUID } from 'node:crypto';
import { mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readChunks, writeSource } from '../file-bytes.ts';
import type { Digest } from '../store.ts';

export interface Spooled {
  digest: Digest;
  /** All chunks of a small file. */
  small: readonly Uint8Array[] | undefined;
  /** All bytes, from the beginning. */
  chunks: () => AsyncIterable<Uint8Array>;
}

/**
 * Keeps the bytes of a source in a local file during `use`, because an object's name is its digest, which is known only
 * after the last byte. The file is unlinked as soon as it is open, so nothing remains if the process dies.
 */
export async function withSpool<T>(
  folder: string,
  source: AsyncIterable<Uint8Array>,
  use: (spooled: Spooled) => Promise<T>,
): Promise<T> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, randomUUID());
  const handle = await open(path, 'wx+');
  try {
    await unlink(path);
    const { digest, small } = await writeSource(handle, source);
    const { size } = digest;
    return await use({
      digest,
      small,
      chunks: () => readChunks(handle, path, { start: 0, end: size, size }),
    });
  } finally {
    await handle.close();
  }
}
