import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { expect, inject, onTestFinished, vi } from 'vitest';
import { run } from '../../cli/program.ts';
import { entryPoint } from '../../shared/platform/paths.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';

/** The command that starts `lectern`, followed by its arguments. */
export const lecternCommand: readonly string[] = [process.execPath, entryPoint('cli/main')];

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly finished: Promise<Finished>;
  /** Sends a signal to the process, or to its whole group, as Ctrl-C in a terminal does. */
  kill(signal: NodeJS.Signals, who?: 'process' | 'group'): void;
  /** Waits until the process has printed a text; fails when it exits before. */
  printed(text: string | RegExp): Promise<string>;
}

/** For commands that load from sources and start servers while other tests keep all cores busy. */
const startTimeoutMs = 100_000;

export type Environment = Record<string, string>;

/** This environment, and from the test run's only what programs need. */
function ownEnvironment(environment: Environment): Environment {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, XDG_CACHE_HOME: dirname(inject('cacheDir')), ...environment };
}

/** Starts a command with this environment, and from the test run's only what programs need. */
export function startCommand(command: readonly string[], environment: Environment, cwd = tmpdir()): Running {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: ownEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} cannot be started`);
  let [stdout, stderr, ended] = ['', '', false];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const finished = once(child, 'close').then(([code, signal]): Finished => {
    ended = true;
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, stdout, stderr };
  });
  const kill: Running['kill'] = (signal, who = 'process') => {
    process.kill(who === 'group' ? -pid : pid, signal);
  };
  onTestFinished(async () => {
    if (!ended) killGroup(pid);
    await finished;
  });
  return {
    pid,
    finished,
    kill,
    async printed(text) {
      const find = () => {
        const output = `${stdout}\n${stderr}`;
        if (typeof text === 'string') return output.includes(text) ? text : null;
        return text.exec(output)?.[0] ?? null;
      };
      const what = `${String(text)} in the output of ${command.slice(2).join(' ')}`;
      await waitFor(what, () => find() !== null || ended, startTimeoutMs);
      const found = find();
      if (found === null) throw new Error(`It ended without ${what}:\n${stdout}\n${stderr}`);
      return found;
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has exited, but its output is not fully read yet.
  }
}

/** Starts `lectern` with these arguments. */
export function startLectern(environment: Environment, ...args: string[]): Running {
  return startCommand([...lecternCommand, ...args], environment);
}

/** Runs `lectern` to its end. */
export function lectern(environment: Environment, ...args: string[]): Promise<Finished> {
  return startLectern(environment, ...args).finished;
}

/**
 * Runs `lectern` to its end as {@link lectern} does, but inside this process, where its modules are loaded: a tenth of
 * the cost. Only for commands without signals, one at a time.
 */
export function lecternHere(environment: Environment, ...args: string[]): Promise<Finished> {
  return lecternReading(environment, '', ...args);
}

/** Runs `lectern` inside this process with this text on stdin. */
export async function lecternReading(
  environment: Environment,
  stdin: string,
  ...args: string[]
): Promise<Finished> {
  const before = { env: process.env, cwd: process.cwd(), exitCode: process.exitCode };
  const output = { stdout: '', stderr: '' };
  const spies = [
    vi
      .spyOn(process, 'stdin', 'get')
      .mockReturnValue(Readable.from([Buffer.from(stdin)]) as typeof process.stdin),
    ...(['stdout', 'stderr'] as const).map((name) =>
      vi.spyOn(process[name], 'write').mockImplementation((text) => {
        output[name] += String(text);
        return true;
      }),
    ),
  ];
  process.env = ownEnvironment(environment);
  process.chdir(tmpdir());
  process.exitCode = undefined;
  try {
    await run(args);
    return { code: exitCode(), signal: null, ...output };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.env = before.env;
    process.chdir(before.cwd);
    process.exitCode = before.exitCode;
  }
}

function exitCode(): number {
  return Number(process.exitCode ?? 0);
}

/** Runs `lectern … --json` in this process, asserts success without messages, and returns the printed document. */
export async function lecternJson(environment: Environment, ...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await lecternHere(environment, ...args, '--json');
  expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** Starts a harness for the tests of a file; returns it, and `lectern` with its settings, inside this process. */
export function useCommandLine(settings?: Parameters<typeof useHarness>[0]) {
  const harness = useHarness(settings);
  const runHere = (...args: string[]) => lecternHere(harness.environment, ...args);
  return {
    harness,
    run: runHere,
    /** Runs a command with `--json`, as {@link lecternJson} does. */
    json: (...args: string[]) => lecternJson(harness.environment, ...args),
    /** Runs a command, asserts exit code 1 and an empty stdout, and returns stderr. */
    errorOf: async (...args: string[]) => errorIn(await runHere(...args)),
    /** Creates an organization and returns the option that names it. */
    newOwner: async () => ['--org', (await buildOrganization(harness)).organization.slug],
  };
}

/** Asserts that a command failed with exit code 1 and this stdout, empty by default; returns stderr. */
export function errorIn({ code, stdout, stderr }: Finished, printed = ''): string {
  expect({ code, stdout }).toStrictEqual({ code: 1, stdout: printed });
  return stderr;
}
