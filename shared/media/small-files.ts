import { digestOfParts } from '../storage/digest.ts';
import type { Digest } from '../storage/store.ts';

/** The size up to which a download stays in memory until it is in the archive. */
const smallBytes = 512 * 1024;

/** The maximum number of bytes that one build keeps in memory. */
const maxHeldBytes = 16 * 1024 ** 2;

/** The number of chunks that are joined into one: as objects, tiny chunks take a hundred times their bytes. */
const joinedChunks = 64;

/** The bytes of small downloads, by path, until they are in the archive. They get no file of their own before. */
export class SmallFiles {
  /** All files that were held. */
  readonly paths = new Set<string>();
  readonly #files = new Map<string, readonly Uint8Array[]>();
  #heldBytes = 0;

  /** Returns whether there was room for a file's bytes. */
  hold(path: string, chunks: readonly Uint8Array[]): boolean {
    const size = sizeOf(chunks);
    if (this.#heldBytes + size > maxHeldBytes) return false;
    this.#files.set(path, chunks);
    this.paths.add(path);
    this.#heldBytes += size;
    return true;
  }

  /** Returns the bytes of a file, and forgets them; undefined without them. */
  take(path: string): readonly Uint8Array[] | undefined {
    const chunks = this.#files.get(path);
    if (chunks === undefined) return undefined;
    this.#files.delete(path);
    this.#heldBytes -= sizeOf(chunks);
    return chunks;
  }
}

/**
 * Reads a small file into memory; passes a larger one to `store`.
 *
 * @returns the chunks of a small file, and null for a larger one.
 */
export async function readSmall(
  source: AsyncIterable<Uint8Array>,
  store: (source: AsyncIterable<Uint8Array>) => Promise<Digest>,
): Promise<Digest & { bytes: readonly Uint8Array[] | null }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let joined = 0;
  const rest = source[Symbol.asyncIterator]();
  while (size <= smallBytes) {
    const next = await rest.next();
    if (next.done === true) return { ...digestOfParts(chunks), bytes: chunks };
    chunks.push(next.value);
    size += next.value.byteLength;
    if (chunks.length - joined < joinedChunks) continue;
    chunks.push(Buffer.concat(chunks.splice(joined)));
    joined += 1;
  }
  try {
    return { ...(await store(continued(chunks, rest))), bytes: null };
  } finally {
    // A store that fails may not have read as far.
    await rest.return?.();
  }
}

async function* continued(chunks: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) yield chunk;
  yield* { [Symbol.asyncIterator]: () => rest };
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
