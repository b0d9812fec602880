import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { LecternError } from './errors.ts';

/** The limits of a child process that handles hostile content. */
export interface ProcessLimits {
  /** CPU time of the whole process, which the kernel enforces. */
  cpuSeconds: number;
  /** The heap of JavaScript, in MiB. */
  heapMb: number;
}

/** Reports content that a child process could not handle within its limits. Trying again would not help. */
export class LimitExceeded extends LecternError {
  override readonly name = 'LimitExceeded';

  constructor(message: string) {
    super('INVALID_CONTENT', message);
  }
}

/**
 * The shell sets the kernel's limits and becomes Node.js: a process ends soon even if its parent was killed. At the first
 * limit, the kernel sends SIGXCPU.
 */
const limited = 'ulimit -S -t "$0" && ulimit -H -t "$(($0 + 1))" && exec "$@"';

/** The signals of a process that crashes for lack of memory: V8 aborts, and some of its checks trap. */
const crashes: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS'];

const running = new Set<ChildProcess>();

/** Starts Node.js with limits on CPU time and memory, without this process's environment. */
export function startLimited(
  nodeArguments: readonly string[],
  { cpuSeconds, heapMb }: ProcessLimits,
  stdio: StdioOptions,
): ChildProcess {
  const node = [process.execPath, `--max-old-space-size=${heapMb}`, ...nodeArguments];
  const child = spawn('/bin/sh', ['-c', limited, String(cpuSeconds), ...node], {
    env: {},
    stdio,
    serialization: 'advanced',
    // In a separate process group, so that Ctrl-C in a terminal does not end a process that a build still needs.
    detached: true,
  });
  if (running.size === 0) process.once('exit', killAll);
  running.add(child);
  const forget = () => {
    running.delete(child);
    if (running.size === 0) process.removeListener('exit', killAll);
  };
  child.once('exit', forget);
  child.once('error', forget);
  return child;
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/**
 * Returns the error of a process that ended too early.
 *
 * @param what the work, as the beginning of a sentence
 */
export function errorOfEnd(what: string, code: number | null, signal: NodeJS.Signals | null): Error {
  if (signal === 'SIGXCPU') return new LimitExceeded(`${what} takes too much time`);
  if (crashes.includes(signal)) return new LimitExceeded(`${what} takes too much memory`);
  return new Error(`${what}: the process ended with ${signal ?? `exit code ${code}`}`);
}
