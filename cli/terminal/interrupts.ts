import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Config } from '../../shared/platform/config.ts';

const npmCheckIntervalMs = 500;
const sameInterruptMs = 500;

/** A user's requests to end a command: Ctrl-C, SIGTERM, or closing the terminal. */
export interface Interrupts {
  /** Aborted by the first request (graceful shutdown): the command cleans up, then ends. */
  readonly graceful: AbortSignal;
  /** Aborted by a second request: the command ends at once. */
  readonly forced: AbortSignal;
  /** Restores the signals' default effect. */
  readonly release: () => void;
}

/**
 * Listens for interrupts. Without it, a signal ends the process at once, which is right for a command that has nothing
 * to clean up.
 *
 * If npm started this process, the end of npm is an interrupt too: a killed npm forwards no signal.
 */
export function listenForInterrupts({ startedByNpm }: Pick<Config, 'startedByNpm'>): Interrupts {
  const graceful = new AbortController();
  const forced = new AbortController();
  let firstAt = 0;
  const interrupt = () => {
    if (!graceful.signal.aborted) {
      firstAt = performance.now();
      graceful.abort(new Error('interrupted'));
    } else if (performance.now() - firstAt > sameInterruptMs) {
      // An earlier second signal is the same Ctrl-C, sent by the terminal and forwarded by npm.
      forced.abort();
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);

  const parents = parentPids().join();
  const npmCheck = setInterval(() => {
    if (startedByNpm && parentPids().join() !== parents) {
      clearInterval(npmCheck);
      interrupt();
    }
  }, npmCheckIntervalMs).unref();

  return {
    graceful: graceful.signal,
    forced: forced.signal,
    release() {
      clearInterval(npmCheck);
      for (const signal of signals) process.off(signal, interrupt);
    },
  };
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Shells in which npm may run its scripts. */
const shells = ['sh', 'ash', 'bash', 'busybox', 'dash', 'zsh'];

/**
 * Returns the ids of the processes that started this one: its parent and, if that is a shell, the shell's parent,
 * because npm runs scripts in a shell. When a parent ends, the system assigns another, so a changed id means that one
 * of them has ended.
 *
 * Only Linux exposes a shell's parent. On other systems the usual shells replace themselves with the script.
 */
function parentPids(): number[] {
  const { ppid } = process;
  try {
    // "pid (name) state ppid …", see proc_pid_stat(5).
    const [, name = '', parent] =
      /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${ppid}/stat`, 'utf8')) ?? [];
    return shells.includes(name) ? [ppid, Number(parent)] : [ppid];
  } catch {
    return [ppid];
  }
}
