/**
 * Bytes that requests hold in memory, by owner: an organization or a learner. Each owner has room for one text in any
 * case, so the last part of the memory stays open to owners that hold none.
 */
export class MemoryShares {
  readonly #most: number;
  readonly #mostPerOwner: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param most bytes in all; more only by one text of each owner. */
  constructor(most: number, mostPerOwner: number) {
    this.#most = most;
    this.#mostPerOwner = mostPerOwner;
  }

  /** @param holding bytes that the same text holds already. */
  hasRoom(owner: string, bytes: number, holding = 0): boolean {
    const held = this.#held.get(owner) ?? 0;
    if (held === holding) return true;
    return held + bytes <= this.#mostPerOwner && this.#total + bytes <= this.#most;
  }

  /** Counts bytes until the function is called that it returns. */
  take(owner: string, bytes: number): () => void {
    let isHeld = true;
    this.#add(owner, bytes);
    return () => {
      if (isHeld) this.#add(owner, -bytes);
      isHeld = false;
    };
  }

  /** A text of which nothing has arrived yet. */
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

/** A text that is counted as it arrives. */
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

  /** Whether there is room for the text at this size. */
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
