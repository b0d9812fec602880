/** Slots for work that only waits, which costs little more than a connection. */
export interface SlowSlots {
  max: number;
  /** Work that takes longer leaves its slot for one of these, if there is one. */
  afterMs: number;
}

/**
 * A limit on concurrent work, which owners share. A free slot goes to the waiting owner that holds the fewest slots,
 * and one owner holds at most half of them. An owner with slow work therefore barely delays the others.
 */
export class FairSlots {
  readonly #max: number;
  readonly #slow: SlowSlots | null;
  readonly #held = new Map<string, number>();
  readonly #heldSlow = new Map<string, number>();
  /** The start functions of waiting work by owner, least recently served owner first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;
  #runningSlow = 0;

  /** @param slow slots for work that takes long; null for none. */
  constructor(max: number, slow: SlowSlots | null = null) {
    this.#max = max;
    this.#slow = slow;
  }

  /** Runs work of an owner when it gets a slot. @throws the errors of `work`. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), start]);
      this.#startNext();
    });
    const slot = { isSlow: false };
    const timer =
      this.#slow === null
        ? undefined
        : setInterval(() => this.#leaveForSlow(owner, slot), this.#slow.afterMs);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      if (slot.isSlow) this.#changeSlow(owner, -1);
      else this.#change(owner, -1);
      this.#startNext();
    }
  }

  /** Does nothing if all slots for slow work are taken, or half of them by this owner. */
  #leaveForSlow(owner: string, slot: { isSlow: boolean }): void {
    const max = this.#slow?.max ?? 0;
    const isTaken = this.#runningSlow >= max || (this.#heldSlow.get(owner) ?? 0) >= halfOf(max);
    if (slot.isSlow || isTaken) return;
    slot.isSlow = true;
    this.#changeSlow(owner, 1);
    this.#change(owner, -1);
    this.#startNext();
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
    let fewest = halfOf(this.#max);
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
    add(this.#held, owner, change);
  }

  #changeSlow(owner: string, change: number): void {
    this.#runningSlow += change;
    add(this.#heldSlow, owner, change);
  }
}

function halfOf(max: number): number {
  return Math.max(1, Math.floor(max / 2));
}

function add(counts: Map<string, number>, owner: string, change: number): void {
  const count = (counts.get(owner) ?? 0) + change;
  if (count > 0) counts.set(owner, count);
  else counts.delete(owner);
}
