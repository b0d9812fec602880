import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const pollIntervalMs = 50;

/** Returns the peak memory of a process in MB: VmHWM in Linux's /proc. */
export async function peakMegabytes(pid: number): Promise<number> {
  const [, kB] = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kB === undefined) throw new Error(`Process ${pid} has no memory any more`);
  return Number(kB) / 1024;
}

/** Returns the same for a process that exits: the last value before, at most 50 ms old. */
export async function peakMegabytesUntil(ended: Promise<unknown>, pid: number): Promise<number> {
  let running = true;
  const end = ended.then(() => {
    running = false;
  });
  let peak = 0;
  while (running) {
    peak = await peakMegabytes(pid).catch(() => peak);
    await Promise.race([end, delay(pollIntervalMs)]);
  }
  return peak;
}

/** Prints a figure of a heavy test, for the documentation. */
export function printFigure(name: string, figures: Record<string, string | number>): void {
  const words = Object.entries(figures).map(([what, value]) => `${what} ${shorten(value)}`);
  process.stdout.write(`  ${name}: ${words.join(', ')}\n`);
}

function shorten(value: string | number): string {
  return typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(1) : String(value);
}

/** Creates a random number generator with a seed (mulberry32); `below(n)` returns an integer from 0 to n - 1. */
export function seededRandom(seed: number): { below: (limit: number) => number } {
  let state = seed;
  return {
    below: (limit) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
    },
  };
}
