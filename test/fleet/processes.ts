import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { childEnvironment } from '../../shared/config.ts';
import { compiled } from '../support/compiled.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';

const startMilliseconds = 60_000;

/** Much longer than anything takes, so that a busy machine fails no test. */
export const patienceMilliseconds = 30_000;

/** An API or a worker in a process of its own, as an operator runs it. It is killed when the test ends. */
export interface FleetProcess {
  readonly pid: number;
  /** Resolves when the process has ended, with a text such as "exit code 0" or "signal SIGKILL". */
  readonly ended: Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when a line of its log has this text, which was written already or comes; its LOG_LEVEL decides. */
  logged(text: string): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
}

export interface ApiProcess extends FleetProcess {
  /** Such as http://127.0.0.1:40123. */
  readonly address: string;
  /** Where its metrics are, with METRICS_PORT. */
  readonly operations: string;
}

export interface WorkerProcess extends FleetProcess {
  /** Where its health checks and metrics are, with WORKER_PORT. */
  readonly operations: string;
}

/** @param settings over the harness's environment. */
export async function spawnWorker(
  harness: Harness,
  settings: Record<string, string> = {},
): Promise<WorkerProcess> {
  const { child, message } = await spawnReady('worker/main', { ...harness.environment, ...settings });
  return { ...child, operations: `http://127.0.0.1:${message.port}` };
}

/** @param settings over the harness's environment. */
export async function spawnApi(harness: Harness, settings: Record<string, string> = {}): Promise<ApiProcess> {
  const { child, message } = await spawnReady('api/main', { ...harness.environment, ...settings });
  const [address, operations] = [message.port, message.metricsPort].map((port) => `http://127.0.0.1:${port}`);
  return { ...child, address: String(address), operations: String(operations) };
}

/** What a process says when it is ready. */
interface Ports {
  port?: number;
  metricsPort?: number;
}

async function spawnReady(
  entry: string,
  environment: Record<string, string>,
): Promise<{ child: FleetProcess; message: Ports }> {
  // The IPC channel carries "ready", and ends the child when this process is gone.
  const child = spawn(process.execPath, [await compiled(entry)], {
    env: childEnvironment(environment),
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const lines: string[] = [];
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const ended = once(child, 'exit').then(([code, signal]: (string | number | null)[]) =>
    signal === null ? `exit code ${code}` : `signal ${signal}`,
  );
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const ready = once(child, 'message', { signal: AbortSignal.timeout(startMilliseconds) });
  const first = await Promise.race([ready, ended]);
  if (typeof first === 'string' || child.pid === undefined) {
    throw new Error(`${entry} did not start: ${String(first)}`);
  }
  const signal = (name: NodeJS.Signals) => void child.kill(name);
  const logged = async (text: string) => {
    await waitFor(
      `"${text}" in the log`,
      () => lines.some((line) => line.includes(text)),
      patienceMilliseconds,
    );
  };
  return { child: { pid: child.pid, ended, signal, kill, logged }, message: first[0] as Ports };
}
