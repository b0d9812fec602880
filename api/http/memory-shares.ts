/**
 * Counts the bytes that requests hold in memory, by owner: an organization or a learner. An owner that holds nothing
 * always has room for one text, regardless of other owners.
 */
export class MemoryShares {
  readonly #maxBytes: number;
  readonly #maxBytesPerOwner: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param maxBytes of all owners together; one text of each owner may exceed it. */
  constructor(maxBytes: number, maxBytesPerOwner: number) {
    this.#maxBytes = maxBytes;
    this.#maxBytesPerOwner = maxBytesPerOwner;
  }

  /** Returns whether a text fits. @param textBytes bytes of the same text that are counted already. */
  hasRoom(owner: string, bytes: number, textBytes = 0): boolean {
    const held = this.#held.get(owner) ?? 0;
    if (held === textBytes) return true;
    return held + bytes <= this.#maxBytesPerOwner && this.#total + bytes <= this.#maxBytes;
  }

  /** Counts bytes; returns a function that stops counting them. */
  take(owner: string, bytes: number): () => void {
    let isHeld = true;
    this.#add(owner, bytes);
    return () => {
      if (isHeld) this.#add(owner, -bytes);
      isHeld = false;
    };
  }

  /** Returns a counter for a text that has not begun to arrive. */
  growing(owner: string): GrowingText {
    return new GrowingText(this, owner, (bytes) => this.#add(owner, bytes));
  }

  #add(owner: string, bytes: number): void {
    const held = (this.#held.get(owner) ?? 0) + bytes;
    this.#total += bytes;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
  }
}

/** Counts a text while it arrives. */
export class GrowingText {
  readonly #shares: MemoryShares;
  readonly #owner: string;
  readonly #add: (bytes: number) => void;
  #bytes = 0;

  constructor(shares: MemoryShares, owner: string, add: (bytes: number) => void) {
    this.#shares = shares;
    this.#owner = owner;
    this.#add = add;
  }

  /** Returns whether the text may have this size. */
  fits(bytes: number): boolean {
    return this.#shares.hasRoom(this.#owner, bytes - this.#bytes, this.#bytes);
  }

  /** Counts the text at its new size. */
  growTo(bytes: number): void {
    this.#add(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  release(): void {
    this.#add(-this.#bytes);
    this.#bytes = 0;
  }
}
