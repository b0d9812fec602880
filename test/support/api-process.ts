import { startCompiled } from './compiled-process.ts';
import type { Harness } from './harness.ts';

/** A line of the log with the fields that tests use. */
export interface LogLine {
  msg: string;
  method?: string;
  path?: string;
  status?: number;
  request?: string;
}

/** An API in a separate process, over the servers and data of a harness. */
export interface ApiProcess {
  url: string;
  pid: number;
  /** Returns its output on stdout and stderr so far. */
  output(): string;
  log(): LogLine[];
  /** Stops it gracefully and returns how it ended, such as "exit code 0". */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<string>;
}

export async function startApiProcess(
  harness: Pick<Harness, 'environment'>,
  settings: Record<string, string> = {},
): Promise<ApiProcess> {
  const environment = { ...harness.environment, ...settings };
  const { pid, ports, ended, output, signal } = await startCompiled('api/main', environment);
  return {
    url: `http://127.0.0.1:${ports.port}`,
    pid,
    output,
    log: () =>
      output()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LogLine),
    end(name = 'SIGTERM') {
      signal(name);
      return ended;
    },
  };
}
