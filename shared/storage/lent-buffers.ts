/** Enough that a turn of the thread pool costs little beside the bytes, and little enough to stay in a cache. */
const largeBytes = 256 * 1024;

/** Large ones that are lent at once, at most: 32 MiB together. */
const mostLarge = 128;

/** What everybody gets when all large ones are lent, as to a thousand clients that hardly read. */
const smallBytes = 64 * 1024;

/**
 * Memory for bytes that only pass through, used again and again: new memory for each piece of a file costs more than
 * reading and sending it do, for the kernel has to clear it and the garbage collector to find it.
 */
export class LentBuffers {
  /** The one given back last is lent first: it may still be in a cache of the processor. */
  readonly #spare: Buffer[] = [];
  #lent = 0;

  /**
   * Lends a buffer until `use` has ended. Whoever sees its bytes must be done with them when that resolves; when it
   * rejects the buffer is not lent again.
   */
  async lend<T>(use: (buffer: Buffer) => Promise<T>): Promise<T> {
    if (this.#lent === mostLarge) return use(Buffer.allocUnsafeSlow(smallBytes));
    const buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(largeBytes);
    this.#lent += 1;
    try {
      const result = await use(buffer);
      this.#spare.push(buffer);
      return result;
    } finally {
      this.#lent -= 1;
    }
  }
}
