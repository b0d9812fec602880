import type { Logger } from './log.ts';

/** A step of shutting down; they run one after the other, in the order they were added. */
interface Step {
  name: string;
  run: () => Promise<unknown>;
}

/** Graceful shutdown of a process: takes no new work, finishes current work, then closes connections. */
export class Shutdown {
  readonly #log: Logger;
  readonly #seconds: number;
  readonly #steps: Step[] = [];
  #ending: Promise<void> | null = null;

  /** @param seconds after which the process ends, whatever is still under way. */
  constructor(log: Logger, seconds: number) {
    this.#log = log;
    this.#seconds = seconds;
  }

  /** Adds a step behind those that are there. */
  add(name: string, run: () => Promise<unknown>): void {
    this.#steps.push({ name, run });
  }

  /**
   * Ends the process on SIGTERM and SIGINT, and when the process that started this one with an IPC channel is gone:
   * what belongs to a terminal's `npm start` must not outlive it.
   */
  listen(): void {
    process.once('SIGTERM', () => void this.end('SIGTERM', 0));
    process.once('SIGINT', () => void this.end('SIGINT', 0));
    process.once('disconnect', () => void this.end('the parent process ended', 0));
  }

  /** Runs the steps and exits. Calls after the first one wait for it. */
  end(reason: string, exitCode: number): Promise<void> {
    this.#ending ??= this.#run(reason, exitCode);
    return this.#ending;
  }

  /** Runs the steps; a failing one is logged and keeps none of the others from running. */
  async close(): Promise<void> {
    for (const { name, run } of this.#steps.splice(0)) {
      try {
        await run();
      } catch (error) {
        this.#log.error({ err: error, step: name }, 'a step of stopping failed');
      }
    }
  }

  async #run(reason: string, exitCode: number): Promise<void> {
    this.#log.info({ reason }, 'stopping');
    const force = setTimeout(() => {
      this.#log.error(`not done within ${this.#seconds} s: stopping all the same`);
      process.exit(1);
    }, this.#seconds * 1000);
    await this.close();
    clearTimeout(force);
    process.exit(exitCode);
  }
}
