import type { Logger } from './log.ts';

/** A task that runs repeatedly, one run at a time. */
export interface Repetition {
  /** Runs the task now, unless it is running or stopped. */
  run(): void;
  /** Aborts the task's signal, and resolves when the task no longer runs. */
  stop(): Promise<void>;
}

/**
 * Runs a task now and at intervals. Runs never overlap: while one is running, an interval starts no other.
 *
 * @param onError gets the error of a failed run, and whether the run before it succeeded. A run that fails because its
 *   signal was aborted is not reported.
 */
export function repeat(
  task: (signal: AbortSignal) => Promise<void>,
  intervalMs: number,
  onError: (error: unknown, isFirst: boolean) => void,
): Repetition {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | null = null;
  let isFailing = false;
  const runOnce = async () => {
    try {
      await task(signal);
      isFailing = false;
    } catch (error) {
      if (!signal.aborted) onError(error, !isFailing);
      isFailing = true;
    }
  };
  const run = () => {
    if (!signal.aborted) running ??= runOnce().finally(() => (running = null));
  };
  run();
  const timer = setInterval(run, intervalMs);
  return {
    run,
    async stop() {
      clearInterval(timer);
      stopping.abort(new Error('this process is shutting down'));
      await running;
    },
  };
}

/**
 * Does due work, one piece after the other, and polls for more at intervals. Logs only the first of several consecutive
 * failures.
 *
 * @param work.name for the log, such as "erasures".
 * @param work.next does the work that has been due the longest; resolves to false if none is due.
 */
export function startDueWork({
  name,
  pollIntervalMs,
  next,
  log,
}: {
  name: string;
  pollIntervalMs: number;
  next: (signal: AbortSignal) => Promise<boolean>;
  log: Logger;
}): Repetition {
  return repeat(
    async (signal) => {
      while (!signal.aborted && (await next(signal)));
    },
    pollIntervalMs,
    (error, isFirst) => {
      if (isFirst) log.warn({ err: error }, `${name} cannot be continued; Lectern retries`);
    },
  );
}
