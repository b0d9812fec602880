import { expect, test } from 'vitest';
import { BuildGivenBack, Builds } from '../../worker/exports/builds.ts';
import { usedMemory } from '../support/garbage.ts';

test('a worker keeps nothing of the jobs it has done', async () => {
  const builds = new Builds();
  const run = async (count: number) => {
    for (let index = 0; index < count; index += 1) await builds.untilGivenBack(Promise.resolve(index));
  };
  await run(1_000);
  const before = usedMemory().heapUsed;
  await run(20_000);
  // Promise.race with one promise for all of them kept 360 bytes each: 7 MB.
  expect(usedMemory().heapUsed - before).toBeLessThan(2_000_000);
});

test('builds that go back to the queue are given up at once, and so are those that are started yet', async () => {
  const builds = new Builds();
  const never = new Promise<never>(() => undefined);
  const running = builds.untilGivenBack(never);
  builds.giveBack();
  await expect(running).rejects.toThrow(BuildGivenBack);
  await expect(builds.untilGivenBack(never)).rejects.toThrow(BuildGivenBack);
});
