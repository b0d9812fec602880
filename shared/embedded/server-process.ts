import { createServer } from 'node:net';
import { withTimeLimit } from '../platform/time-limits.ts';
import { spawnGuarded } from './guarded-process.ts';
import type { GuardedProcess } from './guarded-process.ts';

/** How many of a server's last lines are kept, and how many of them an error quotes. */
const keptLines = 200;
const quotedLines = 12;

export interface ServerCommand {
  /** The name that messages use, "MongoDB". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The line by which the server says that it takes connections. */
  readonly ready: RegExp;
  /** A line after which the server is of no use although its process lives: it is killed. */
  readonly broken?: RegExp;
  /** Turns a line of output into one for people; the line itself unless told. */
  readonly readable?: (line: string) => string;
  /** Tells the lines that say what is wrong from the others, which are quoted only when there is none. */
  readonly telling?: (line: string) => boolean;
  /** Takes each line of output. */
  readonly log?: ((line: string) => void) | undefined;
  /** Milliseconds the server has to become ready. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A server of ours that takes connections on loopback. */
export interface RunningServer extends GuardedProcess {
  readonly url: string;
  readonly port: number;
}

/**
 * Starts a server and resolves once it says that it is ready. A server that ends first, or is not ready in
 * time, throws an error that shows the end of its output; an aborted `signal` kills it and throws its reason.
 */
export async function startServer(server: ServerCommand): Promise<GuardedProcess> {
  server.signal?.throwIfAborted();
  const tail: string[] = [];
  let sayReady: () => void;
  const ready = new Promise<'ready'>((resolve) => (sayReady = () => resolve('ready')));
  const child = spawnGuarded(server.command, server.args, (line) => {
    server.log?.(line);
    tail.push(line);
    if (tail.length > keptLines) tail.shift();
    if (server.broken?.test(line)) child.kill();
    if (server.ready.test(line)) sayReady();
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
  throw new Error(`${server.name} did not start (${what}).${lastWords(server, tail)}`);
}

function lastWords({ telling, readable }: ServerCommand, tail: readonly string[]): string {
  const told = telling ? tail.filter(telling) : [];
  const quoted = (told.length > 0 ? told : tail).slice(-quotedLines);
  const lines = quoted.map((line) => `\n  ${readable ? readable(line) : line}`);
  return lines.length > 0 ? ` Its last words:${lines.join('')}` : '';
}

/** Whether an error of `startServer` says that another process had the port. */
function portWasTaken(error: unknown): boolean {
  return error instanceof Error && /address already in use|EADDRINUSE/i.test(error.message);
}

/**
 * Runs `start` with a port of loopback that is free, or with `port` alone when it is given. A free port can be
 * taken by another process before the server has it: then another one is tried, three times in all.
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

async function freePort(): Promise<number> {
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
