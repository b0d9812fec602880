import { onTestFinished } from 'vitest';
import { startCompiled } from '../support/compiled-process.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { longTimeoutMs } from './fleet.ts';

/** An API or a worker in its own process, as an operator runs it. The test kills it at its end. */
export interface FleetProcess {
  readonly pid: number;
  /** An API's URL, such as http://127.0.0.1:40123. */
  readonly address: string;
  /** The URL of its metrics and health checks, with METRICS_PORT or WORKER_PORT. */
  readonly operations: string;
  /** Resolves when the process has ended, with a text such as "exit code 0" or "signal SIGKILL". */
  readonly ended: Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when its log contains this text, already or later; LOG_LEVEL decides what it logs. */
  logged(text: string): Promise<void>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
}

export type ApiProcess = FleetProcess;

type Spawn = (harness: Harness, settings?: Record<string, string>, root?: string) => Promise<FleetProcess>;

/** Starts a process with settings over the harness's environment; `root` is that of `startCompiled`. */
const spawnEntry =
  (entry: string): Spawn =>
  async (harness, settings = {}, root) => {
    const environment = { ...harness.environment, ...settings };
    const { pid, ports, ended, output, signal } = await startCompiled(entry, environment, root);
    const kill = async () => {
      signal('SIGKILL');
      await ended;
    };
    onTestFinished(kill);
    const logged = async (text: string) => {
      await waitFor(`"${text}" in the log`, () => output().includes(text), longTimeoutMs);
    };
    const urlOf = (port: number | undefined) => `http://127.0.0.1:${port}`;
    const operations = urlOf(entry === 'worker/main' ? ports.port : ports.metricsPort);
    return { pid, address: urlOf(ports.port), operations, ended, signal, kill, logged };
  };

export const spawnApi = spawnEntry('api/main');
export const spawnWorker = spawnEntry('worker/main');
