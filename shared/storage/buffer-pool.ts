/** Enough that a turn of the thread pool costs little beside the bytes, and little enough to stay in a cache. */
const largeBytes = 256 * 1024;

/** For all others when so many large ones are lent, as to a thousand clients that hardly read. */
const smallBytes = 64 * 1024;

/** Each of a pair: so large that two processors are busy, one that reads and one that sends. */
const pairedBytes = 1024 ** 2;

/** Pairs that are lent at once: more of them are slower for all, for they leave the processor's cache. */
const maxPairs = 2;

/** Large ones that are lent at once, and spare ones of each size that are kept: 44 MiB with the pairs, in the end. */
const maxLarge = 128;

type Pair = [Buffer, Buffer];

interface FreeList<Memory> {
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
export class BufferPool {
  readonly #pairs = createFreeList<Pair>(maxPairs, () => [newBuffer(pairedBytes), newBuffer(pairedBytes)]);
  readonly #large = createFreeList(maxLarge, () => newBuffer(largeBytes));
  readonly #small = createFreeList(maxLarge, () => newBuffer(smallBytes));

  /**
   * Lends a buffer until `use` has ended. Whoever sees its bytes must be done with them when that resolves; when it
   * rejects the buffer is not lent again.
   */
  withBuffer<T>(use: (buffer: Buffer) => Promise<T>): Promise<T> {
    return withMemory(this.#large.lent < maxLarge ? this.#large : this.#small, use);
  }

  /** Whether {@link withPair} may be called. */
  get hasFreePair(): boolean {
    return this.#pairs.lent < maxPairs;
  }

  /** As {@link withBuffer}, but two large buffers for one of the few who may read the next piece while one is sent. */
  withPair<T>(use: (pair: Pair) => Promise<T>): Promise<T> {
    return withMemory(this.#pairs, use);
  }
}

function createFreeList<Memory>(mostSpare: number, make: () => Memory): FreeList<Memory> {
  return { make, mostSpare, spare: [], lent: 0 };
}

/** Memory of its own, which no other buffer shares. */
const newBuffer = (bytes: number) => Buffer.allocUnsafeSlow(bytes);

async function withMemory<Memory, T>(
  shelf: FreeList<Memory>,
  use: (memory: Memory) => Promise<T>,
): Promise<T> {
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
