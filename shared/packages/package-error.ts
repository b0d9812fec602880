const printed = 20;
const kept = 1_000;

/**
 * A package that cannot be read. The message is written for the person who wants to import it: one fault a line,
 * the first 20, then how many more there are.
 */
export class PackageError extends Error {
  override readonly name = 'PackageError';
  /** One text each, such as `lesson.json: lesson.title: is missing`; the first 1,000. */
  readonly faults: string[];

  /** @param total how many faults there are in all, when not all of them are given */
  constructor(faults: string[], options: { total?: number; cause?: unknown } = {}) {
    const lines = faults.slice(0, printed);
    const more = (options.total ?? faults.length) - lines.length;
    if (more > 0) lines.push(`and ${more} more`);
    super(lines.join('\n'), { cause: options.cause });
    this.faults = faults;
  }
}

/** Collects faults, so that a person hears of all of them at once; a million of them take no more room than 1,000. */
export class FaultList {
  readonly #faults: string[] = [];
  #total = 0;

  /** @param place such as `manifest.json: files.media[3].localPath` */
  add(place: string, fault: string): void {
    this.#total += 1;
    if (this.#faults.length < kept) this.#faults.push(`${place}: ${fault}`);
  }

  get total(): number {
    return this.#total;
  }

  /** @throws PackageError with every fault so far, if there is any */
  throwIfAny(): void {
    if (this.#total > 0) throw new PackageError(this.#faults, { total: this.#total });
  }
}

/** The first five of some names, then how many more there are. */
export function someOf(names: string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
