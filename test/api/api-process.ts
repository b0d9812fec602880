import { fork } from 'node:child_process';
import { once } from 'node:events';
import { childEnvironment } from '../../shared/config.ts';
import { compiled } from '../support/compiled.ts';
import type { Harness } from '../support/harness.ts';

/** A line of the log, as far as tests look at it. */
export interface LogLine {
  msg: string;
  method?: string;
  path?: string;
  status?: number;
  request?: string;
}

/** An API in a process of its own, over the servers and data of a harness. */
export interface ApiProcess {
  address: string;
  /** All that it wrote to stdout and stderr so far. */
  output(): string;
  log(): LogLine[];
  /** Asks it to end, and gives its exit code, or null when a signal ended it. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export async function startApiProcess(
  harness: Pick<Harness, 'environment'>,
  settings: Record<string, string> = {},
): Promise<ApiProcess> {
  const child = fork(await compiled('api/main'), {
    env: childEnvironment({ ...harness.environment, ...settings }),
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const ready = await Promise.race([once(child, 'message'), exited.then(() => null)]);
  if (ready === null) throw new Error(`The API did not start:\n${output}`);
  const [{ port }] = ready as [{ port: number }];
  return {
    address: `http://127.0.0.1:${port}`,
    output: () => output,
    log: () =>
      output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LogLine),
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
}
