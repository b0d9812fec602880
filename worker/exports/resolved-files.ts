import type { FoundFile, Missing, Outcomes } from './outcome.ts';

/**
 * What has come of the search for each file, by its path. There is no promise for each of them: an archive may have
 * 100,000 files, and few are waited for at once.
 */
export class FoundFiles {
  /** Of the files that are there, or known not to be. */
  readonly outcomes: Outcomes = new Map();
  readonly #ended: AbortSignal;
  #waiting: (() => void)[] = [];

  /** @param ended aborted when nothing more will be found, with the reason. */
  constructor(ended: AbortSignal) {
    this.#ended = ended;
    ended.addEventListener('abort', () => this.#wake(), { once: true });
  }

  set(path: string, outcome: FoundFile | Missing): void {
    this.outcomes.set(path, outcome);
    this.#wake();
  }

  /** Waits until a file is there, or known not to be. @throws the reason for which nothing more will be found. */
  async get(path: string): Promise<FoundFile | Missing> {
    for (;;) {
      const known = this.outcomes.get(path);
      if (known !== undefined) return known;
      this.#ended.throwIfAborted();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
