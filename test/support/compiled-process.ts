import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { childEnvironment } from '../../shared/platform/config.ts';
import { entryPoint } from '../../shared/platform/paths.ts';

const startTimeoutMs = 60_000;

/** The message of a ready API or worker. */
export interface Ports {
  port?: number;
  metricsPort?: number;
}

/** A Lectern process as operators run it: compiled, with its own environment. */
export interface CompiledProcess {
  readonly pid: number;
  readonly ports: Ports;
  /** Resolves when the process has exited, with a text such as "exit code 0" or "signal SIGKILL". */
  readonly ended: Promise<string>;
  /** Returns its output on stdout and stderr so far. */
  output(this: void): string;
  /** Sends a signal, unless the process has exited. */
  signal(this: void, name: NodeJS.Signals): void;
}

/**
 * Starts a process and waits until it is ready. It exits with this process at the latest.
 *
 * @param entry such as api/main
 * @param root the folder of another compiled release; this one by default.
 * @throws with its output if it exits first.
 */
export async function startCompiled(
  entry: string,
  environment: Record<string, string>,
  root?: string,
): Promise<CompiledProcess> {
  const module = root === undefined ? entryPoint(entry) : join(root, 'dist', `${entry}.js`);
  // The IPC channel carries "ready", and ends the child when this process is gone.
  const child = spawn(process.execPath, [module], {
    env: childEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'exit').then(([code, signal]: (string | number | null)[]) =>
    signal === null ? `exit code ${code}` : `signal ${signal}`,
  );
  const ready = once(child, 'message', { signal: AbortSignal.timeout(startTimeoutMs) });
  const first = await Promise.race([ready, ended]).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  if (typeof first === 'string' || child.pid === undefined) {
    throw new Error(`${entry} did not start: ${String(first)}\n${output}`);
  }
  return {
    pid: child.pid,
    ports: first[0] as Ports,
    ended,
    output: () => output,
    signal: (name) => void child.kill(name),
  };
}
