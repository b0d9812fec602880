import type { Logger } from './log.ts';

/** A shutdown step. Steps run one after the other, in the order of their registration. */
interface Step {
  name: string;
  run: () => Promise<unknown>;
}

/** Graceful shutdown of a process: it accepts no new work, finishes current work, then closes connections. */
export class Shutdown {
  readonly #log: Logger;
  readonly #timeoutSeconds: number;
  readonly #steps: Step[] = [];
  #ending: Promise<void> | null = null;

  /** @param timeoutSeconds after this time, the process exits even if steps are still running. */
  constructor(log: Logger, timeoutSeconds: number) {
    this.#log = log;
    this.#timeoutSeconds = timeoutSeconds;
  }

  /** Appends a step. */
  add(name: string, run: () => Promise<unknown>): void {
    this.#steps.push({ name, run });
  }

  /**
   * Ends the process on SIGTERM and SIGINT, and when its parent with an IPC channel ends: processes of `npm start` must
   * not outlive it.
   */
  listen(): void {
    process.once('SIGTERM', () => void this.end('SIGTERM', 0));
    process.once('SIGINT', () => void this.end('SIGINT', 0));
    process.once('disconnect', () => void this.end('the parent process ended', 0));
  }

  /** Runs the steps and exits the process. Further calls wait for the first one. */
  end(reason: string, exitCode: number): Promise<void> {
    this.#ending ??= this.#run(reason, exitCode);
    return this.#ending;
  }

  /** Runs the steps. A failing step is logged; the others still run. */
  async close(): Promise<void> {
    for (const { name, run } of this.#steps.splice(0)) {
      try {
        await run();
      } catch (error) {
        this.#log.error({ err: error, step: name }, 'a shutdown step failed');
      }
    }
  }

  async #run(reason: string, exitCode: number): Promise<void> {
    this.#log.info({ reason }, 'stopping');
    const force = setTimeout(() => {
      this.#log.error(`shutdown took longer than ${this.#timeoutSeconds} s: exiting`);
      process.exit(1);
    }, this.#timeoutSeconds * 1000);
    await this.close();
    clearTimeout(force);
    process.exit(exitCode);
  }
}
