import { execFile, spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * Makes a command end with its parent, even after SIGKILL. The shell starts a watcher in the background and becomes the
 * command, so the process id is the command's. The watcher reads a pipe whose other end only the parent holds: a line
 * means that the command has exited, the end of the pipe without a line that the parent is gone.
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
exec "$@" 3<&-
`;

/** Includes recovery after a crash: MongoDB reads its journal first. */
const startTimeoutMs = 60_000;

export interface ServerCommand {
  name: string;
  command: string;
  args: readonly string[];
  /** Matches the log of a server that is ready. */
  ready: RegExp;
  /** The log of the running server. A start that fails leaves it alone, because another process may own it. */
  logFile: string;
}

/** A server that ends with this process at the latest. Ctrl-C in the terminal does not reach it. */
export interface RunningServer {
  readonly pid: number;
  /** Resolves when the process has exited, with a text such as "exit code 1" or "signal SIGKILL". */
  readonly exited: Promise<string>;
  /** Sends SIGTERM, then SIGKILL after `graceMs`; resolves when the process has exited. */
  readonly stop: (graceMs?: number) => Promise<void>;
  readonly kill: () => void;
}

/**
 * Starts a server; resolves once it is ready.
 *
 * @throws an error with the end of its output when it exits first or is not ready in time.
 */
export async function startServer(server: ServerCommand): Promise<RunningServer> {
  const log = `${server.logFile}.${randomUUID()}`;
  const running = spawnGuarded(server, log);
  let outcome: string | undefined;
  void running.exited.then((how) => (outcome = how));
  const giveUpAt = performance.now() + startTimeoutMs;
  while (outcome === undefined && performance.now() < giveUpAt) {
    if (server.ready.test(readFileSync(log, 'utf8'))) {
      renameSync(log, server.logFile);
      return running;
    }
    await delay(20);
  }
  const what = outcome ?? `not ready after ${startTimeoutMs / 1000} s`;
  await running.stop(2000);
  // MongoDB marks its usual messages, which do not explain a failure.
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  rmSync(log);
  const faults = lines.filter((line) => !line.includes('"s":"I"')).slice(-6);
  const quoted = faults.map((line) => `\n  ${line.slice(0, 400)}`).join('');
  throw new Error(`${server.name} did not start (${what}). Its last output:${quoted}`);
}

function spawnGuarded({ command, args }: ServerCommand, logFile: string): RunningServer {
  const log = openSync(logFile, 'w', 0o600);
  const child = spawn('/bin/sh', ['-c', guardScript, 'sh', command, ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
  });
  closeSync(log);
  const guard = child.stdio[3] as Writable;
  // The watcher may exit before the pipe is closed; that does not affect the command.
  guard.on('error', () => undefined);
  const exited = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) => {
      guard.end('ended\n');
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
  return {
    pid: child.pid ?? 0,
    exited,
    stop: async (graceMs = 10_000) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      child.kill('SIGTERM');
      await exited.finally(() => clearTimeout(timer));
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/**
 * Returns a port of loopback that was free just now, below those that systems give to outgoing connections and to servers
 * without a port of their own: one of these could take it before the server that it is meant for.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    await once(server.close(), 'close');
    return port;
  }
}

/** Returns the full path of a command on PATH, or undefined. Asks the shell, which implements PATH. */
export async function findCommand(name: string): Promise<string | undefined> {
  const search = promisify(execFile)('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', name]);
  const { stdout } = await search.catch(() => ({ stdout: '' }));
  return stdout.trim() || undefined;
}
