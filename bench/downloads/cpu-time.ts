import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks per second in /proc, on all systems that Node.js supports. */
const ticksPerSecond = 100;

interface ProcessTimes {
  parent: number;
  seconds: number;
}

/**
 * Returns the CPU time, in user and kernel mode, that all running child processes of this one have used so far, in
 * seconds: all servers of a benchmark. Null where there is no /proc.
 */
export async function serverCpuSeconds(): Promise<number | null> {
  const ids = await readdir('/proc').catch(() => null);
  if (ids === null) return null;
  const times = new Map<number, ProcessTimes>();
  for (const id of ids.filter((name) => /^\d+$/.test(name))) {
    const text = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => null);
    // A process that has ended meanwhile has no file.
    if (text !== null) times.set(Number(id), parseStat(text));
  }
  let sum = 0;
  for (const [id, { seconds }] of times) if (isBelow(id, times)) sum += seconds;
  return sum;
}

/** The name of the program, in parentheses, may contain anything. */
function parseStat(text: string): ProcessTimes {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond };
}

function isBelow(id: number, times: ReadonlyMap<number, ProcessTimes>): boolean {
  for (let at = times.get(id)?.parent; at !== undefined && at > 0; at = times.get(at)?.parent) {
    if (at === process.pid) return true;
  }
  return false;
}
