import { expect, onTestFinished, test } from 'vitest';
import { BuildPreempted, Builds } from '../../worker/exports/builds.ts';
import { startPreemption } from '../../worker/exports/preemption.ts';
import { useHarness } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { enqueue, openTestQueue } from './scheduling.ts';
import type { TestQueue } from './scheduling.ts';

const harness = useHarness();

/** A worker whose builds run until they must stop; `stopped` has their names and reasons. */
function openWorker(scheduler: TestQueue, slots: number, minAgeMs = 0) {
  const builds = new Builds();
  const stopped: [string, unknown][] = [];
  const preemption = startPreemption(scheduler.queue, builds, slots, { pollIntervalMs: 10, minAgeMs });
  onTestFinished(() => preemption.stop());
  return {
    stopped,
    async start(): Promise<void> {
      const job = await scheduler.startJob();
      if (job === undefined) throw new Error('No job waits');
      const ended = builds.run(job.data, async (signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw signal.reason;
      });
      ended.catch((error: unknown) => stopped.push([job.data.slug, error]));
    },
  };
}

test('the newest build of an organization that has all slots is preempted for an organization without one', async () => {
  const scheduler = openTestQueue(harness);
  const worker = openWorker(scheduler, 2);
  await enqueue(scheduler, 'a1', 'a2', 'a3');
  await worker.start();
  await worker.start();
  await enqueue(scheduler, 'b1');
  await waitFor('a build to stop', () => worker.stopped.length === 1);
  expect(worker.stopped).toEqual([['a2', expect.any(BuildPreempted)]]);
  expect(await scheduler.start()).toBe('b1');
});

test('builds on other workers count, and only one of them is preempted', async () => {
  const scheduler = openTestQueue(harness);
  const workers = [openWorker(scheduler, 1), openWorker(scheduler, 1), openWorker(scheduler, 1)];
  await enqueue(scheduler, 'a1', 'a2', 'a3');
  for (const worker of workers) await worker.start();
  await enqueue(scheduler, 'b1');
  const stopped = () => workers.flatMap((worker) => worker.stopped);
  await waitFor('a build to stop', () => stopped().length > 0);
  expect(await scheduler.start()).toBe('b1');
  expect(stopped()).toHaveLength(1);
});

test.each([
  ['one organization alone, however many of its jobs wait', 2, 0, ['a1', 'a2', 'a3'], []],
  ['the only builds of their organizations', 2, 0, ['a1', 'b1'], ['c1']],
  ['builds that have just begun', 2, 60_000, ['a1', 'a2'], ['b1']],
  ['builds beside a free slot', 3, 0, ['a1', 'a2'], ['b1']],
])('no build is preempted for %s', async (_what, slots, minAgeMs, first, later) => {
  const scheduler = openTestQueue(harness);
  const worker = openWorker(scheduler, slots, minAgeMs);
  await enqueue(scheduler, ...first);
  await worker.start();
  await worker.start();
  await enqueue(scheduler, ...later);
  // Polls several times: a job that is starved in two polls preempts a build.
  const polls = await scheduler.redis.info('commandstats').then(evalsIn);
  if (slots === 2) {
    await waitFor('polls', async () => evalsIn(await scheduler.redis.info('commandstats')) > polls + 10);
  }
  expect(worker.stopped).toEqual([]);
});

function evalsIn(stats: string): number {
  return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}
