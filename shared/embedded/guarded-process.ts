import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Makes a process end with its parent, however that ends. The shell starts a watcher in the background and then becomes
 * the command, so the process id is the command's. The watcher reads a pipe whose other end only the parent holds. A
 * line means that the command has exited. The end of the pipe without a line means that the parent is gone, even after
 * SIGKILL, so the watcher kills the command. Both outputs share one pipe, which keeps their order.
 */
const guardScript = `
(
  exec 0<&3 3<&- >/dev/null 2>&1
  read -r ended && exit
  kill -TERM $$
  seconds=0
  while kill -0 $$ && [ $seconds -lt 15 ]; do sleep 1; seconds=$((seconds + 1)); done
  kill -KILL $$
) &
exec "$@" 2>&1 3<&-
`;

export interface GuardedProcess {
  readonly pid: number;
  /** Resolves when the process has exited, with a text such as "exit code 1" or "signal SIGKILL". */
  readonly exited: Promise<string>;
  /** Sends SIGTERM, then SIGKILL after `graceMs`; resolves when the process has exited. */
  stop(graceMs?: number): Promise<void>;
  /** Sends SIGKILL. */
  kill(): void;
}

/**
 * Starts a command that ends with this process, and passes each line of its output to `onLine`. For a command that
 * cannot run, `exited` resolves with exit code 127.
 *
 * @throws only for a missing shell or a full process table.
 */
export function spawnGuarded(
  command: string,
  args: readonly string[],
  onLine: (line: string) => void,
): GuardedProcess {
  const child = spawn('/bin/sh', ['-c', guardScript, 'sh', command, ...args], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const output = child.stdio[1] as Readable;
  const guard = child.stdio[3] as Writable;
  // The watcher may exit before the pipe is closed; that does not affect the command.
  guard.on('error', () => undefined);
  createInterface({ input: output, crlfDelay: Infinity }).on('line', onLine);

  const exited = new Promise<string>((resolve, reject) => {
    const allOutputRead = new Promise<void>((done) => child.once('close', () => done()));
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      guard.end('ended\n');
      // A grandchild may keep the output open, so wait for a second at most.
      void Promise.race([allOutputRead, delay(1000)]).then(() =>
        resolve(signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`),
      );
    });
  });
  if (child.pid === undefined) throw new Error(`${command} could not be started: the process table is full`);

  return {
    pid: child.pid,
    exited,
    async stop(graceMs = 10_000) {
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      child.kill('SIGTERM');
      await exited.finally(() => clearTimeout(timer));
    },
    kill() {
      child.kill('SIGKILL');
    },
  };
}
