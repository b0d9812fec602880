import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { childEnvironment } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { entryPoint } from '../../shared/platform/paths.ts';
import { localUrl } from '../../shared/operations/running-api.ts';
import type { ServerUrls } from '../../shared/embedded/embedded-servers.ts';
import { aborted } from '../terminal/interrupts.ts';

/** The API and workers of one installation, as child processes. */
export interface Processes {
  /** The URL of the API. */
  url: string;
  /** Rejects when one of the processes ends unexpectedly. */
  failed: Promise<never>;
  /** Stops all processes gracefully; resolves when they have ended. */
  stop: () => Promise<void>;
}

export interface ProcessOptions {
  workers: number;
  /** Added to this process's environment for the children. */
  settings?: Record<string, string>;
  /** Aborts the start. */
  signal?: AbortSignal;
  /** Kills the processes. */
  kill?: AbortSignal;
}

/**
 * Starts one API process and some workers, and resolves when all of them are ready.
 *
 * @throws {LecternError} when one cannot start, after it printed the reason to stderr; the signal's reason
 */
export async function startProcesses(
  config: Config,
  servers: ServerUrls,
  { workers, settings = {}, signal, kill }: ProcessOptions,
): Promise<Processes> {
  const { mongodbUri: MONGODB_URI, redisUrl: REDIS_URL } = servers;
  const env = childEnvironment({ MONGODB_URI, REDIS_URL, ...settings });
  const processes = [startProcess('The API', 'api/main', env)];
  for (let number = 1; number <= workers; number += 1)
    processes.push(startProcess(`Worker ${number}`, 'worker/main', env));
  kill?.addEventListener('abort', () => processes.forEach(({ child }) => child.kill('SIGKILL')));

  let stopping = false;
  const stop = async () => {
    stopping = true;
    await Promise.all(processes.map(({ child }) => endChild(child)));
  };
  const failed = Promise.race(
    processes.map(async ({ name, child, state }): Promise<never> => {
      const [code, by] = (await once(child, 'exit')) as [number | null, string | null];
      if (stopping) return new Promise(() => undefined);
      const what = state.ready ? 'has ended' : 'did not start';
      throw new LecternError('INTERNAL_ERROR', `${name} ${what} (${by ?? `exit code ${code}`}).`);
    }),
  );
  failed.catch(() => undefined);
  try {
    const ready = Promise.all(processes.map(({ started }) => started));
    const interrupted = signal === undefined ? [] : [rejectOnAbort(signal)];
    const [api] = await Promise.race([ready, failed, ...interrupted]);
    return { url: localUrl(config.host, api?.port ?? config.port), failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  await aborted(signal);
  throw signal.reason;
}

interface StartedProcess {
  name: string;
  child: ChildProcess;
  state: { ready: boolean };
  /** Resolves with its first message, which it sends when it is ready. */
  started: Promise<{ port?: number }>;
}

function startProcess(name: string, entry: string, env: NodeJS.ProcessEnv): StartedProcess {
  const child = fork(entryPoint(entry), {
    env,
    // The IPC channel carries "ready". The child ends when this process, and so the channel, ends.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Ctrl-C in the terminal reaches only this process, which ends its children in order.
    detached: true,
  });
  const state = { ready: false };
  const started = once(child, 'message').then(([message]) => {
    state.ready = true;
    return message as { port?: number };
  });
  return { name, child, state, started };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
