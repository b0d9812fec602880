/** Large enough to make the overhead of a thread pool read negligible, and small enough for a processor cache. */
const largeBytes = 256 * 1024;

/** Used when all large buffers are in use, as by a thousand slow clients. */
const smallBytes = 64 * 1024;

/** The size of each buffer of a pair, which keeps two processors busy: one reads, one sends. */
const pairedBytes = 1024 ** 2;

/** The maximum number of pairs in use. More would not fit into the processor's cache, which slows all of them. */
const maxPairs = 2;

/**
 * The maximum number of large buffers in use, and of free buffers of each size. Including pairs, the pool keeps at most
 * 44 MiB.
 */
const maxLarge = 128;

type Pair = [Buffer, Buffer];

interface FreeList<Memory> {
  readonly make: () => Memory;
  /** The number of free buffers that are kept. */
  readonly maxFree: number;
  /** Last in, first out: the last buffer may still be in a processor cache. */
  readonly free: Memory[];
  inUse: number;
}

/**
 * A buffer pool for bytes that only pass through. Allocating new memory for each chunk would cost more than reading and
 * sending it, because the kernel clears it and the garbage collector tracks it.
 */
export class BufferPool {
  readonly #pairs = createFreeList<Pair>(maxPairs, () => [newBuffer(pairedBytes), newBuffer(pairedBytes)]);
  readonly #large = createFreeList(maxLarge, () => newBuffer(largeBytes));
  readonly #small = createFreeList(maxLarge, () => newBuffer(smallBytes));

  /**
   * Runs `use` with a buffer. All users of its bytes must be done when `use` resolves. After a rejection the pool drops
   * the buffer.
   */
  withBuffer<T>(use: (buffer: Buffer) => Promise<T>): Promise<T> {
    return withMemory(this.#large.inUse < maxLarge ? this.#large : this.#small, use);
  }

  /** Whether {@link withPair} may be called. */
  get hasFreePair(): boolean {
    return this.#pairs.inUse < maxPairs;
  }

  /** As {@link withBuffer}, with two large buffers, so that the next chunk can be read while one is sent. */
  withPair<T>(use: (pair: Pair) => Promise<T>): Promise<T> {
    return withMemory(this.#pairs, use);
  }
}

function createFreeList<Memory>(maxFree: number, make: () => Memory): FreeList<Memory> {
  return { make, maxFree, free: [], inUse: 0 };
}

/** Allocates memory outside Node's shared pool. */
const newBuffer = (bytes: number) => Buffer.allocUnsafeSlow(bytes);

async function withMemory<Memory, T>(
  list: FreeList<Memory>,
  use: (memory: Memory) => Promise<T>,
): Promise<T> {
  const memory = list.free.pop() ?? list.make();
  list.inUse += 1;
  try {
    const result = await use(memory);
    if (list.free.length < list.maxFree) list.free.push(memory);
    return result;
  } finally {
    list.inUse -= 1;
  }
}
