/** One thing to measure; `prepare` and `check` are not part of the time. */
export interface Contender {
  name: string;
  prepare: () => Promise<void>;
  run: () => Promise<void>;
}

/**
 * Runs the contenders by turns, so that a noisy moment of the machine meets all of them, and gives the median time
 * of each in milliseconds, by name. The first round warms up and does not count.
 */
export async function medianTimes(contenders: Contender[], rounds: number): Promise<Map<string, number>> {
  const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, prepare, run } of contenders) {
      await prepare();
      const started = performance.now();
      await run();
      if (round > 0) times.get(name)?.push(performance.now() - started);
    }
  }
  return new Map(
    [...times].map(([name, list]) => [name, list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0]),
  );
}

/** A table of medians, each as a ratio to the baseline. */
export function report(title: string, times: Map<string, number>, baseline: string): void {
  const base = times.get(baseline) ?? NaN;
  console.log(`\n${title}`);
  for (const [name, time] of times) {
    console.log(`  ${name.padEnd(58)} ${time.toFixed(0).padStart(6)} ms  ${(time / base).toFixed(2)}`);
  }
}
