import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { lives } from '../embedded/processes.ts';
import { waitFor } from '../support/wait-for.ts';

export interface Process {
  pid: number;
  command: string;
}

/** Returns all descendants of a process. */
export async function descendantsOf(pid: number): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const processes = stdout.split('\n').map((line) => {
    const [, own, parent, command = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return { pid: Number(own), parent: Number(parent), command };
  });
  const below = (ancestor: number): Process[] =>
    processes
      .filter(({ parent }) => parent === ancestor)
      .flatMap(({ pid: child, command }) => [{ pid: child, command }, ...below(child)]);
  return below(pid);
}

/** Waits until all of these processes have exited. */
export async function allEnded(processes: Process[]): Promise<void> {
  const left = () => processes.filter(({ pid }) => lives(pid));
  await waitFor(
    'the exit of all processes',
    () => {
      if (left().length > 0)
        throw new Error(
          left()
            .map(({ command }) => command)
            .join('\n'),
        );
      return true;
    },
    20_000,
  );
}
