import { createServer } from 'node:net';
import { withTimeLimit } from '../platform/time-limits.ts';
import { spawnGuarded } from './guarded-process.ts';
import type { GuardedProcess } from './guarded-process.ts';

/** The number of a server's last lines to keep, and to quote in an error. */
const keptLines = 200;
const quotedLines = 12;

export interface ServerCommand {
  /** The name in messages, such as "MongoDB". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Matches the line that reports readiness. */
  readonly ready: RegExp;
  /** Matches a line after which the server is unusable although it runs; it is killed. */
  readonly broken?: RegExp;
  /** Converts a line of output for people; the line itself by default. */
  readonly readable?: (line: string) => string;
  /** Selects lines that report faults; other lines are quoted only if there are none. */
  readonly isFault?: (line: string) => boolean;
  /** Receives each line of output. */
  readonly log?: ((line: string) => void) | undefined;
  /** The time to become ready. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A server that Lectern runs on loopback. */
export interface RunningServer extends GuardedProcess {
  readonly url: string;
  readonly port: number;
}

/**
 * Starts a server; resolves once it reports readiness.
 *
 * @throws an error with the end of its output when it exits first or is not ready in time; the reason of an aborted
 * `signal`, which kills it.
 */
export async function startServer(server: ServerCommand): Promise<GuardedProcess> {
  server.signal?.throwIfAborted();
  const tail: string[] = [];
  let reportReady: () => void;
  const ready = new Promise<'ready'>((resolve) => (reportReady = () => resolve('ready')));
  let isBroken = false;
  const child = spawnGuarded(server.command, server.args, (line) => {
    server.log?.(line);
    tail.push(line);
    if (tail.length > keptLines) tail.shift();
    if (server.broken?.test(line)) {
      isBroken = true;
      child.kill();
    }
    // A killed server may still report readiness: on an occupied port, the other server responds to it.
    if (!isBroken && server.ready.test(line)) reportReady();
  });

  const limit = { timeoutMs: server.timeoutMs, signal: server.signal };
  const outcome = await withTimeLimit(limit, (ending) => {
    const ended = new Promise<'ended'>((resolve) =>
      ending.addEventListener('abort', () => resolve('ended'), { once: true }),
    );
    return Promise.race([ready, ended, child.exited]);
  });
  if (outcome === 'ready') return child;

  if (outcome === 'ended') {
    await child.stop(2000);
    server.signal?.throwIfAborted();
  }
  const what = outcome === 'ended' ? `not ready after ${server.timeoutMs / 1000} s` : outcome;
  throw new Error(`${server.name} did not start (${what}).${lastLines(server, tail)}`);
}

function lastLines({ isFault, readable }: ServerCommand, tail: readonly string[]): string {
  const faults = isFault ? tail.filter(isFault) : [];
  const quoted = (faults.length > 0 ? faults : tail).slice(-quotedLines);
  const lines = quoted.map((line) => `\n  ${readable ? readable(line) : line}`);
  return lines.length > 0 ? ` Its last output:${lines.join('')}` : '';
}

/** Returns whether an error of `startServer` reports an occupied port. */
function portWasTaken(error: unknown): boolean {
  return error instanceof Error && /address already in use|EADDRINUSE/i.test(error.message);
}

/**
 * Runs `start` with the given port, or with a free one. Another process may take a free port first, so it makes three
 * attempts.
 */
export async function startOnPort<T>(
  port: number | undefined,
  start: (port: number) => Promise<T>,
): Promise<T> {
  if (port !== undefined) return start(port);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 3 || !portWasTaken(error)) throw error;
    }
  }
}

/** Returns a port of loopback that was free just now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No free port could be found');
  return address.port;
}
