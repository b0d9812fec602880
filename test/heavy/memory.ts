import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const lookMilliseconds = 50;

/** The most memory that a process ever held, in MB: VmHWM of Linux's /proc, which the kernel keeps. */
export async function peakMegabytes(pid: number): Promise<number> {
  const [, kB] = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kB === undefined) throw new Error(`Process ${pid} has no memory any more`);
  return Number(kB) / 1024;
}

/** The same of a process that ends by itself: the last figure before it does, at most 50 ms old. */
export async function peakMegabytesUntil(ended: Promise<unknown>, pid: number): Promise<number> {
  let running = true;
  const end = ended.then(() => {
    running = false;
  });
  let peak = 0;
  while (running) {
    peak = await peakMegabytes(pid).catch(() => peak);
    await Promise.race([end, delay(lookMilliseconds)]);
  }
  return peak;
}
