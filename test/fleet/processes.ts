import { onTestFinished } from 'vitest';
import { compiled } from '../support/compiled.ts';
import { startCompiled } from '../support/compiled-process.ts';
import type { Ports } from '../support/compiled-process.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { longTimeoutMs } from './fleet.ts';

// Compiles before the first test, whose time limit excludes it.
await compiled('api/main');

/**
 * An API or a worker in a process of its own, as an operator runs it. The test kills it at its
 * end.
 */
export interface FleetProcess {
  readonly pid: number;
  /** Resolves when the process has ended, with a text such as "exit code 0" or "signal SIGKILL". */
  readonly ended: Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when its log contains this text, already or later; LOG_LEVEL decides what it logs. */
  logged(text: string): Promise<void>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
}

export interface ApiProcess extends FleetProcess {
  /** Such as http://127.0.0.1:40123. */
  readonly address: string;
  /** The URL of its metrics, with METRICS_PORT. */
  readonly operations: string;
}

export interface WorkerProcess extends FleetProcess {
  /** The URL of its health checks and metrics, with WORKER_PORT. */
  readonly operations: string;
}

/**
 * @param settings over the harness's environment.
 * @param root as in `startCompiled`.
 */
export async function spawnWorker(
  harness: Harness,
  settings: Record<string, string> = {},
  root?: string,
): Promise<WorkerProcess> {
  const environment = { ...harness.environment, ...settings };
  const { started, ports } = await startFleetProcess('worker/main', environment, root);
  return { ...started, operations: `http://127.0.0.1:${ports.port}` };
}

/**
 * @param settings over the harness's environment.
 * @param root as in `startCompiled`.
 */
export async function spawnApi(
  harness: Harness,
  settings: Record<string, string> = {},
  root?: string,
): Promise<ApiProcess> {
  const environment = { ...harness.environment, ...settings };
  const { started, ports } = await startFleetProcess('api/main', environment, root);
  const [address, operations] = [ports.port, ports.metricsPort].map((port) => `http://127.0.0.1:${port}`);
  return { ...started, address: String(address), operations: String(operations) };
}

async function startFleetProcess(
  entry: string,
  environment: Record<string, string>,
  root?: string,
): Promise<{ started: FleetProcess; ports: Ports }> {
  const { pid, ports, ended, output, signal } = await startCompiled(entry, environment, root);
  const kill = async () => {
    signal('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const logged = async (text: string) => {
    await waitFor(`"${text}" in the log`, () => output().includes(text), longTimeoutMs);
  };
  return { started: { pid, ended, signal, kill, logged }, ports };
}
