/** A contender; the time of `prepare` does not count. */
export interface Contender {
  name: string;
  prepare: () => Promise<void>;
  run: () => Promise<void>;
}

/** A contender that measures itself, in milliseconds. */
export interface Measurement {
  name: string;
  measure: () => Promise<number>;
}

/** Returns the median time of each contender in milliseconds, by name; see `medians`. */
export function medianTimes(contenders: Contender[], rounds: number): Promise<Map<string, number>> {
  return medians(contenders.map(timed), rounds);
}

/** Measures the time of a contender. */
export function timed({ name, prepare, run }: Contender): Measurement {
  return {
    name,
    async measure() {
      await prepare();
      const started = performance.now();
      await run();
      return performance.now() - started;
    },
  };
}

/**
 * Measures in turns, so that noise of the machine affects all. Returns the median of each in milliseconds, by name. The
 * first round warms up and does not count.
 */
export async function medians(measurements: Measurement[], rounds: number): Promise<Map<string, number>> {
  const times = new Map<string, number[]>(measurements.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, measure } of measurements) {
      const time = await measure();
      if (round > 0) times.get(name)?.push(time);
    }
  }
  return new Map([...times].map(([name, list]) => [name, median(list)]));
}

export function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN;
}

/** Prints a table of medians with their ratios to the baselines. */
export function report(title: string, times: Map<string, number>, ...baselines: string[]): void {
  console.log(`\n${title}`);
  for (const [name, time] of times) {
    const ratios = baselines.map((baseline) => (time / (times.get(baseline) ?? NaN)).toFixed(2));
    console.log(`  ${name.padEnd(58)} ${time.toFixed(0).padStart(6)} ms  ${ratios.join('  ')}`);
  }
}
