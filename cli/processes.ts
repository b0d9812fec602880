import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { childEnvironment } from '../shared/config.ts';
import type { Config } from '../shared/config.ts';
import { LecternError } from '../shared/errors.ts';
import { entryPoint } from '../shared/paths.ts';
import type { Servers } from '../shared/servers.ts';

const parentCheckMilliseconds = 500;

/** The API and workers of one installation, as processes of their own below this one. */
export interface Processes {
  /** Where the API answers. */
  address: string;
  /** Rejects when one of the processes ends by itself. */
  failed: Promise<never>;
  /** Asks all to end, and resolves when they have. */
  stop(): Promise<void>;
}

/**
 * Starts one API process and some workers, and resolves when all of them do their work.
 *
 * @param settings for the children's environment, over this process's own.
 * @throws {LecternError} when one cannot start; it has said why on stderr.
 */
export async function startProcesses(
  config: Config,
  servers: Servers,
  { workers, settings = {} }: { workers: number; settings?: Record<string, string> },
): Promise<Processes> {
  const env = childEnvironment({ MONGODB_URI: servers.mongodbUri, REDIS_URL: servers.redisUrl, ...settings });
  const children: ChildProcess[] = [];
  const start = (name: string, entry: string) => {
    // The IPC channel carries "ready"; when this process dies, its end tells the child to end as well.
    const child = fork(entryPoint(entry), { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    children.push(child);
    return { name, child };
  };
  const started = [start('api', 'api/main')];
  for (let number = 1; number <= workers; number += 1) started.push(start(`worker ${number}`, 'worker/main'));

  let stopping = false;
  const stop = async () => {
    stopping = true;
    await Promise.all(children.map(endChild));
  };
  const failed = Promise.race(
    started.map(async ({ name, child }): Promise<never> => {
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      if (stopping) return new Promise(() => undefined);
      throw new LecternError(
        'INTERNAL_ERROR',
        `the ${name} process ended (${signal ?? `exit code ${code}`})`,
      );
    }),
  );
  failed.catch(() => undefined);
  try {
    const ready = started.map(
      async ({ child }) => ((await once(child, 'message')) as [{ port?: number }])[0],
    );
    const messages = await Promise.race([Promise.all(ready), failed]);
    const port = messages[0]?.port ?? config.port;
    return { address: `http://127.0.0.1:${port}`, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/**
 * Resolves with the reason when this process is to end: Ctrl-C, SIGTERM, a closed terminal, or, where npm started it,
 * the end of npm, which passes no signal on when it is killed.
 */
export function untilStopped(config: Pick<Config, 'startedByNpm'>): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve(signal));
    if (!config.startedByNpm) return;
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid !== parent) resolve('npm ended');
    }, parentCheckMilliseconds);
    timer.unref();
  });
}
