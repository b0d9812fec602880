import { expect, test } from 'vitest';
import { closeExport, enqueueExport, enqueuePrebuild } from '../../shared/exports/enqueue.ts';
import { raiseOldest } from '../../worker/exports/upkeep.ts';
import { useHarness } from '../support/use.ts';
import { enqueue, jobNamed, lockToken, namesOf, openTestQueue } from './scheduling.ts';
import type { TestQueue } from './scheduling.ts';

const harness = useHarness();

const { signal } = new AbortController();

/** Ends the next job as a worker does, and returns its name. */
async function build({ queue, startJob }: TestQueue): Promise<string | undefined> {
  const job = await startJob();
  if (job === undefined) return undefined;
  await closeExport(queue, job.data);
  await job.moveToCompleted({ size: 1, files: 1, failures: 0 }, lockToken, false);
  return job.data.slug;
}

async function prebuild({ queue }: TestQueue, ...names: string[]): Promise<void> {
  for (const name of names) await enqueuePrebuild(queue, jobNamed(name));
}

test("500 waiting exports of one organization delay another's single export by the build that runs already", async () => {
  const scheduler = openTestQueue(harness);
  await Promise.all(namesOf('a', 500).map((name) => enqueue(scheduler, name)));
  await scheduler.start();
  await enqueue(scheduler, 'b1');
  expect(await scheduler.start()).toBe('b1');
});

test('organizations with few exports come before those with many', async () => {
  const scheduler = openTestQueue(harness);
  await enqueue(scheduler, ...namesOf('a', 4), ...namesOf('b', 2), ...namesOf('c', 3));
  expect(await scheduler.startAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'c3', 'a4']);
});

test('the oldest export of an organization with many starts, although others request single exports without end', async () => {
  const scheduler = openTestQueue(harness);
  await enqueue(scheduler, ...namesOf('a', 5));
  await build(scheduler);
  for (let number = 1; number <= 5; number += 1) {
    await enqueue(scheduler, `b${number}`);
    expect(await build(scheduler)).toBe(`b${number}`);
  }
  await raiseOldest(scheduler.queue, signal);
  await enqueue(scheduler, 'b6');
  expect(await build(scheduler)).toBe('a2');
});

test('fifty concurrent requests for one archive share a job', async () => {
  const { queue } = openTestQueue(harness);
  const ids = await Promise.all(Array.from({ length: 50 }, () => enqueueExport(queue, jobNamed('a1'))));
  expect(new Set(ids).size).toBe(1);
  expect(await queue.getPrioritizedCount()).toBe(1);
});

test('an organization may have 2000 open exports; ended and lost ones do not count', async () => {
  const scheduler = openTestQueue(harness);
  const { queue, redis } = scheduler;
  await enqueue(scheduler, 'a1');
  const others = namesOf('other', 1999).flatMap((name) => [Date.now(), name]);
  await redis.zadd(queue.ownKey('open:a'), ...others);
  const further = () => enqueue(scheduler, 'a2').then(() => 'queued', String);
  expect(await further()).toContain('2000 exports of your organization are waiting');
  await enqueue(scheduler, 'a1', 'b1');
  await build(scheduler);
  expect(await further()).toBe('queued');

  // The jobs of yesterday's exports were lost with the data of Redis.
  await redis.zadd(queue.ownKey('open:c'), ...namesOf('lost', 2000).flatMap((name) => [1, name]));
  await enqueue(scheduler, 'c1');
});

test('2000 waiting pre-builds leave room for requests, and further ones are left to the first request', async () => {
  const scheduler = openTestQueue(harness);
  await Promise.all(namesOf('a', 2000).map((name) => prebuild(scheduler, name)));
  await prebuild(scheduler, 'b1');
  expect(await scheduler.queue.getPrioritizedCount()).toBe(2000);
  await enqueue(scheduler, 'a2001', 'b1');
  expect(await scheduler.start()).toBe('a2001');
  expect(await scheduler.start()).toBe('b1');
});

test('pre-builds start only when nothing else waits', async () => {
  const scheduler = openTestQueue(harness);
  await prebuild(scheduler, 'a1', 'a2', 'b1');
  await enqueue(scheduler, ...namesOf('c', 3));
  await raiseOldest(scheduler.queue, signal);
  expect(await scheduler.startAll()).toEqual([...namesOf('c', 3), 'a1', 'a2', 'b1']);
});

test('a request raises a waiting pre-build to its own priority, and publishing does not lower it', async () => {
  const scheduler = openTestQueue(harness);
  await prebuild(scheduler, 'a1', 'a2', 'a3');
  await enqueue(scheduler, 'b1', 'a3', 'b2');
  await prebuild(scheduler, 'a3', 'b1');
  expect(await scheduler.startAll()).toEqual(['b1', 'a3', 'b2', 'a1', 'a2']);
});
