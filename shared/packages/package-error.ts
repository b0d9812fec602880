import { codeOf, messageOf } from '../platform/errors.ts';
import { shownPath } from './entry-name.ts';
const printed = 20;
const kept = 1_000;
const enough = 10_000;

/**
 * A package that cannot be read. The message is written for the person who wants to import it: one fault a line,
 * the first 20, then how many more there are.
 */
export class PackageError extends Error {
  override readonly name = 'PackageError';
  /** One text each, such as `lesson.json: lesson.title: is missing`; the first 1,000. */
  readonly faults: string[];

  /**
   * @param options.total how many faults there are in all, when not all of them are given
   * @param options.isCutShort whether there may be more than `total`
   */
  constructor(faults: string[], options: { total?: number; isCutShort?: boolean; cause?: unknown } = {}) {
    const lines = faults.slice(0, printed);
    const more = (options.total ?? faults.length) - lines.length;
    if (more > 0) lines.push(`and ${options.isCutShort ? 'at least ' : ''}${more} more`);
    super(lines.join('\n'), { cause: options.cause });
    this.faults = faults;
  }
}

/** Collects faults, so that a person hears of all of them at once; but not of millions, whatever a file holds. */
export class FaultList {
  readonly #faults: string[] = [];
  #total = 0;

  /**
   * @param place such as `manifest.json: files.media[3].localPath`
   * @throws PackageError with every fault so far, at the 10,000th: looking for more is not worth the time
   */
  add(place: string, fault: string): void {
    this.#total += 1;
    if (this.#faults.length < kept) this.#faults.push(`${place}: ${fault}`);
    if (this.#total >= enough) throw new PackageError(this.#faults, { total: this.#total, isCutShort: true });
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

/** Says in plain words why a file or folder cannot be read. */
export function cannotRead(path: string, error: unknown): never {
  const reasons: Record<string, string> = {
    ENOENT: 'there is no such file or folder',
    ENOTDIR: 'there is no such file or folder',
    EACCES: 'cannot be read: permission denied',
    EPERM: 'cannot be read: permission denied',
    ELOOP: 'cannot be read: its symbolic links form a loop',
  };
  const reason = reasons[String(codeOf(error))] ?? `cannot be read: ${messageOf(error)}`;
  throw new PackageError([`${shownPath(path)}: ${reason}`], { cause: error });
}
