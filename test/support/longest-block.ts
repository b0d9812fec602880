import { cpuUsage } from 'node:process';

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
