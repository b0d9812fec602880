import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { childEnvironment } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { entryPoint } from '../../shared/platform/paths.ts';
import { localUrl } from '../../shared/operations/running-api.ts';
import type { Servers } from '../../shared/embedded/servers.ts';
import { aborted } from '../terminal/interrupts.ts';

/** The API and workers of one installation, as processes of their own below this one. */
export interface Processes {
  /** Where the API answers. */
  address: string;
  /** Rejects when one of the processes ends by itself. */
  failed: Promise<never>;
  /** Asks all to end, and resolves when they have. */
  stop: () => Promise<void>;
}

export interface ProcessOptions {
  workers: number;
  /** For the children's environment, over this process's own. */
  settings?: Record<string, string>;
  /** Gives up the start. */
  signal?: AbortSignal;
  /** Ends the processes at once, with what they are doing. */
  kill?: AbortSignal;
}

/**
 * Starts one API process and some workers, and resolves when all of them do their work.
 *
 * @throws {LecternError} when one cannot start; it has said why on stderr. The signal's reason when it is aborted.
 */
export async function startProcesses(
  config: Config,
  servers: Servers,
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
    const givenUp = signal === undefined ? [] : [rejectOnAbort(signal)];
    const [api] = await Promise.race([ready, failed, ...givenUp]);
    return { address: localUrl(config.host, api?.port ?? config.port), failed, stop };
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
  /** Resolves with its first message: it does its work. */
  started: Promise<{ port?: number }>;
}

function startProcess(name: string, entry: string, env: NodeJS.ProcessEnv): StartedProcess {
  const child = fork(entryPoint(entry), {
    env,
    // The IPC channel carries "ready"; when this process dies, its end tells the child to end as well.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Ctrl-C in the terminal is for this process, which ends its children in order.
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
