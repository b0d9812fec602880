/**
 * A limit of concurrent work that its owners share: a free slot goes to the waiting owner that holds the fewest, and
 * one owner holds at most half of all slots. An owner with slow work therefore barely delays the others.
 */
export class FairSlots {
  readonly #max: number;
  readonly #maxPerOwner: number;
  readonly #held = new Map<string, number>();
  /** The start functions of waiting work by owner, least recently served owner first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(max: number) {
    this.#max = max;
    this.#maxPerOwner = Math.max(1, Math.floor(max / 2));
  }

  /** Runs work of an owner when it gets a slot. @throws what `work` throws. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), start]);
      this.#startNext();
    });
    try {
      return await work();
    } finally {
      this.#change(owner, -1);
      this.#startNext();
    }
  }

  #startNext(): void {
    while (this.#running < this.#max) {
      const owner = this.#nextOwner();
      if (owner === null) return;
      const [start, ...rest] = this.#waiting.get(owner) ?? [];
      this.#waiting.delete(owner);
      if (rest.length > 0) this.#waiting.set(owner, rest);
      this.#change(owner, 1);
      start?.();
    }
  }

  #nextOwner(): string | null {
    let next: string | null = null;
    let fewest = this.#maxPerOwner;
    for (const owner of this.#waiting.keys()) {
      const held = this.#held.get(owner) ?? 0;
      if (held >= fewest) continue;
      fewest = held;
      next = owner;
    }
    return next;
  }

  #change(owner: string, change: number): void {
    this.#running += change;
    const held = (this.#held.get(owner) ?? 0) + change;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }
}
