/** Enough that a turn of the thread pool costs little beside the bytes, and little enough to stay in a cache. */
const largeBytes = 256 * 1024;

/** For all others when so many large ones are lent, as to a thousand clients that hardly read. */
const smallBytes = 64 * 1024;

/** Large ones that are lent at once, and spare ones of each size that are kept: 40 MiB in the end. */
const most = 128;

interface Shelf {
  readonly bytes: number;
  /** The one given back last is lent first: it may still be in a cache of the processor. */
  readonly spare: Buffer[];
  lent: number;
}

/**
 * Memory for bytes that only pass through, used again and again: new memory for each piece of a file costs more than
 * reading and sending it do, for the kernel has to clear it and the garbage collector to find it.
 */
export class LentBuffers {
  readonly #large: Shelf = { bytes: largeBytes, spare: [], lent: 0 };
  readonly #small: Shelf = { bytes: smallBytes, spare: [], lent: 0 };

  /**
   * Lends a buffer until `use` has ended. Whoever sees its bytes must be done with them when that resolves; when it
   * rejects the buffer is not lent again.
   */
  async lend<T>(use: (buffer: Buffer) => Promise<T>): Promise<T> {
    const shelf = this.#large.lent < most ? this.#large : this.#small;
    const buffer = shelf.spare.pop() ?? Buffer.allocUnsafeSlow(shelf.bytes);
    shelf.lent += 1;
    try {
      const result = await use(buffer);
      if (shelf.spare.length < most) shelf.spare.push(buffer);
      return result;
    } finally {
      shelf.lent -= 1;
    }
  }
}
