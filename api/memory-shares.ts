/**
 * Bytes that requests hold in memory, by organization. One text of each organization has room in any case, so the last
 * part of the memory stays open to organizations that hold none.
 */
export class MemoryShares {
  readonly #most: number;
  readonly #mostPerOrganization: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param most bytes in all; more only by one text of each organization. */
  constructor(most: number, mostPerOrganization: number) {
    this.#most = most;
    this.#mostPerOrganization = mostPerOrganization;
  }

  hasRoom(organizationId: string, bytes: number): boolean {
    const held = this.#held.get(organizationId) ?? 0;
    return held === 0 || (held + bytes <= this.#mostPerOrganization && this.#total + bytes <= this.#most);
  }

  /** Counts bytes until the function is called that it returns. */
  take(organizationId: string, bytes: number): () => void {
    let isHeld = true;
    this.#add(organizationId, bytes);
    return () => {
      if (isHeld) this.#add(organizationId, -bytes);
      isHeld = false;
    };
  }

  #add(organizationId: string, bytes: number): void {
    const held = (this.#held.get(organizationId) ?? 0) + bytes;
    this.#total += bytes;
    if (held === 0) this.#held.delete(organizationId);
    else this.#held.set(organizationId, held);
  }
}
