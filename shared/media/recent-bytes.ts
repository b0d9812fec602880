/** The most bytes that one build keeps in memory. */
const maxHeldBytes = 16 * 1024 ** 2;

/** Keeps small files that were just downloaded in memory until they are used, which saves reading them from the store. */
export class RecentBytes {
  readonly #files = new Map<string, readonly Uint8Array[]>();
  #held = 0;

  /** Keeps the bytes of a file, if there is room. */
  keep(sha256: string, chunks: readonly Uint8Array[]): void {
    const size = sizeOf(chunks);
    if (this.#files.has(sha256) || this.#held + size > maxHeldBytes) return;
    this.#files.set(sha256, chunks);
    this.#held += size;
  }

  /** Returns the bytes of a file, and forgets them; undefined without them. */
  take(sha256: string): readonly Uint8Array[] | undefined {
    const chunks = this.#files.get(sha256);
    if (chunks === undefined) return undefined;
    this.#files.delete(sha256);
    this.#held -= sizeOf(chunks);
    return chunks;
  }
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
