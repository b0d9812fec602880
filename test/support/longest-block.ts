import { cpuUsage } from 'node:process';

/**
 * What counts as a blocked event loop in a test, in milliseconds of CPU time. It is generous, because a garbage collection on
 * a busy machine takes hundreds of them; an attack that succeeds takes many seconds. bench/hostile measures exactly.
 */
export const maxBlockMs = 1_000;

/**
 * Runs work, and returns for how long it blocked the event loop at most, in milliseconds of this process's CPU time: the
 * time for which a busy machine runs other programs does not count. The work must not fail.
 */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let [longest, last] = [0, cpuMs()];
  const measure = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(measure, 5);
  try {
    await work();
    measure();
  } finally {
    clearInterval(timer);
  }
  return longest;
}

function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
