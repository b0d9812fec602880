/** Enough that a turn of the thread pool costs little beside the bytes, and little enough to stay in a cache. */
const largeBytes = 256 * 1024;

/** For all others when so many large ones are lent, as to a thousand clients that hardly read. */
const smallBytes = 64 * 1024;

/** Each of a pair: so large that two processors are busy, one that reads and one that sends. */
const pairedBytes = 1024 ** 2;

/** Pairs that are lent at once: more of them are slower for all, for they leave the processor's cache. */
const mostPairs = 2;

/** Large ones that are lent at once, and spare ones of each size that are kept: 44 MiB with the pairs, in the end. */
const most = 128;

type Pair = [Buffer, Buffer];

interface Shelf<Memory> {
  readonly make: () => Memory;
  /** What is given back beyond so many is not kept. */
  readonly mostSpare: number;
  /** The one given back last is lent first: it may still be in a cache of the processor. */
  readonly spare: Memory[];
  lent: number;
}

/**
 * Memory for bytes that only pass through, used again and again: new memory for each piece of a file costs more than
 * reading and sending it do, for the kernel has to clear it and the garbage collector to find it.
 */
export class LentBuffers {
  readonly #pairs = createShelf<Pair>(mostPairs, () => [newBuffer(pairedBytes), newBuffer(pairedBytes)]);
  readonly #large = createShelf(most, () => newBuffer(largeBytes));
  readonly #small = createShelf(most, () => newBuffer(smallBytes));

  /**
   * Lends a buffer until `use` has ended. Whoever sees its bytes must be done with them when that resolves; when it
   * rejects the buffer is not lent again.
   */
  lend<T>(use: (buffer: Buffer) => Promise<T>): Promise<T> {
    return lendFrom(this.#large.lent < most ? this.#large : this.#small, use);
  }

  /** Whether {@link lendPair} may be called. */
  get hasPair(): boolean {
    return this.#pairs.lent < mostPairs;
  }

  /** As {@link lend}, but two large buffers for one of the few who may read the next piece while one is sent. */
  lendPair<T>(use: (pair: Pair) => Promise<T>): Promise<T> {
    return lendFrom(this.#pairs, use);
  }
}

function createShelf<Memory>(mostSpare: number, make: () => Memory): Shelf<Memory> {
  return { make, mostSpare, spare: [], lent: 0 };
}

/** Memory of its own, which no other buffer shares. */
const newBuffer = (bytes: number) => Buffer.allocUnsafeSlow(bytes);

async function lendFrom<Memory, T>(shelf: Shelf<Memory>, use: (memory: Memory) => Promise<T>): Promise<T> {
  const memory = shelf.spare.pop() ?? shelf.make();
  shelf.lent += 1;
  try {
    const result = await use(memory);
    if (shelf.spare.length < shelf.mostSpare) shelf.spare.push(memory);
    return result;
  } finally {
    shelf.lent -= 1;
  }
}
