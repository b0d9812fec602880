import { codeOf, LecternError, messageOf } from '../platform/errors.ts';
import { shownPath } from './entry-name.ts';

const maxPrinted = 20;
const maxKept = 1_000;
const maxCounted = 10_000;

/**
 * Reports a package that cannot be read. The message has one line for each of the first 20 faults, then the number of
 * further faults.
 */
export class PackageError extends Error {
  override readonly name = 'PackageError';
  /** The first 1,000 faults, such as `lesson.json: lesson.title: is missing`. */
  readonly faults: string[];
  /** The number of all faults. */
  readonly total: number;
  /** Whether there may be more than `total`. */
  readonly isCutShort: boolean;

  /**
   * @param options.total the number of all faults, if `faults` has only some of them
   */
  constructor(faults: string[], options: { total?: number; isCutShort?: boolean; cause?: unknown } = {}) {
    const lines = faults.slice(0, maxPrinted);
    const total = options.total ?? faults.length;
    const more = total - lines.length;
    if (more > 0) lines.push(`and ${options.isCutShort ? 'at least ' : ''}${more} more`);
    super(lines.join('\n'), { cause: options.cause });
    this.faults = faults;
    this.total = total;
    this.isCutShort = options.isCutShort === true;
  }
}

/** Collects faults, so that one error reports all of them, with a bound for files with millions of faults. */
export class FaultList {
  readonly #faults: string[] = [];
  #total = 0;

  /**
   * @param place such as `manifest.json: files.media[3].localPath`
   * @throws {PackageError} at the 10,000th fault
   */
  add(place: string, fault: string): void {
    this.#total += 1;
    if (this.#faults.length < maxKept) this.#faults.push(`${place}: ${fault}`);
    if (this.#total >= maxCounted)
      throw new PackageError(this.#faults, { total: this.#total, isCutShort: true });
  }

  get total(): number {
    return this.#total;
  }

  /** @throws {PackageError} with every fault so far, if there is any */
  throwIfAny(): void {
    if (this.#total > 0) throw new PackageError(this.#faults, { total: this.#total });
  }
}

/**
 * Runs work on a package. Turns the package's faults into an error with one line for each.
 *
 * @param what the beginning of the message, such as "Cannot import book.zip".
 */
export async function withPackageFaults<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    const faults = error.message.replace(/^/gm, '  ');
    throw new LecternError('INVALID_CONTENT', `${what}:\n${faults}`, { cause: error });
  }
}

/** Joins the first five names, and adds the number of further names. */
export function someOf(names: string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

/** @throws {PackageError} with the reason why a file or folder cannot be read */
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

/** The maximum number of warnings of one kind that a report lists. */
const maxWarnings = 20;

/** Returns the first warnings, and the number of the others. */
export function shortened(warnings: string[]): string[] {
  if (warnings.length <= maxWarnings) return warnings;
  return [...warnings.slice(0, maxWarnings), `and ${warnings.length - maxWarnings} more`];
}
