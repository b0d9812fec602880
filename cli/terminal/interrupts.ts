import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Config } from '../../shared/platform/config.ts';

const npmCheckMilliseconds = 500;
const sameMilliseconds = 500;

/** What whoever watches a command asks of it with Ctrl-C, SIGTERM, or by closing the terminal. */
export interface Interrupts {
  /** Aborted the first time: clean up, then end. */
  readonly end: AbortSignal;
  /** Aborted when asked again: end at once. */
  readonly insist: AbortSignal;
  /** Gives the signals their usual effect back. */
  readonly release: () => void;
}

/**
 * Listens from now on. Until it is called, a signal ends the process at once, as fits one that has nothing to clean up.
 *
 * The end of npm counts too where npm started this process: killed, it passes no signal on.
 */
export function listenForInterrupts({ startedByNpm }: Pick<Config, 'startedByNpm'>): Interrupts {
  const end = new AbortController();
  const insist = new AbortController();
  let firstAt = 0;
  const interrupt = () => {
    if (!end.signal.aborted) {
      firstAt = performance.now();
      end.abort(new Error('interrupted'));
    } else if (performance.now() - firstAt > sameMilliseconds) {
      // What comes sooner is the same Ctrl-C, sent by the terminal and passed on by npm.
      insist.abort();
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);

  const startedBy = parentPids().join();
  const npmCheck = setInterval(() => {
    if (startedByNpm && parentPids().join() !== startedBy) {
      clearInterval(npmCheck);
      interrupt();
    }
  }, npmCheckMilliseconds).unref();

  return {
    end: end.signal,
    insist: insist.signal,
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

/** The shells that npm may run its scripts in. */
const shells = ['sh', 'ash', 'bash', 'busybox', 'dash', 'zsh'];

/**
 * Returns the ids of the processes that started this one: its parent and, if that is a shell, the shell's parent. npm
 * puts a shell between itself and a script. A process that ends is replaced by another as parent, so a change means
 * that one has ended.
 *
 * Only Linux exposes a shell's parent. Elsewhere the usual shells become the script that they run.
 */
function parentPids(): number[] {
  const { ppid } = process;
  try {
    // "pid (name) state ppid …", as proc_pid_stat(5) has it.
    const [, name = '', parent] =
      /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${ppid}/stat`, 'utf8')) ?? [];
    return shells.includes(name) ? [ppid, Number(parent)] : [ppid];
  } catch {
    return [ppid];
  }
}
