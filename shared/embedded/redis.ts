import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { entryPoint } from '../platform/paths.ts';
import { findCommand, freePort, startServer } from './child-process.ts';
import type { LocalServer } from './mongod.ts';

/**
 * Starts an in-memory Redis on loopback: `redis-server` or `valkey-server` from PATH, else Valkey in WebAssembly. To
 * restart it on the same port after `kill()`, wait for `exited` first.
 *
 * @throws an error with the server's last output.
 */
export async function startRedis(logFile: string, onPort?: number): Promise<LocalServer> {
  const port = onPort ?? (await freePort());
  const installed = (await findCommand('redis-server')) ?? (await findCommand('valkey-server'));
  const program = installed === undefined ? webAssemblyServer(port) : nativeServer(installed, port);
  const server = await startServer({ name: 'Redis', ...program, logFile });
  return { ...server, port, url: `redis://127.0.0.1:${port}` };
}

function nativeServer(command: string, port: number) {
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', 'maxmemory-policy': 'noeviction' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return { command, args, ready: /ready to accept connections/i };
}

function webAssemblyServer(port: number) {
  const file = entryPoint('shared/embedded/valkey-process');
  const args = ['--disable-warning=ExperimentalWarning', file, String(port)];
  // Sources need the loader of this process, by its full path: the working directory may be another one.
  const { resolve } = createRequire(import.meta.url);
  if (file.endsWith('.ts')) args.unshift('--import', pathToFileURL(resolve('tsx')).href);
  return { command: process.execPath, args, ready: /^lectern: redis is ready$/m };
}
