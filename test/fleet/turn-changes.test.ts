import { UnrecoverableError } from 'bullmq';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countJobsAhead, enqueuePrebuild, rerunEndedExport } from '../../shared/exports/enqueue.ts';
import { reassignPriority } from '../../shared/exports/job-lifecycle.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jobNamed, lockToken, namesOf, openTurns } from './turns.ts';
import type { Turns } from './turns.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function prebuild({ queue }: Turns, ...names: string[]): Promise<void> {
  for (const name of names) await enqueuePrebuild(queue, jobNamed(name));
}

async function fail(turns: Turns): Promise<void> {
  const job = await turns.startJob();
  await job?.moveToFailed(new UnrecoverableError('for the test'), lockToken);
}

test('exports for readers are built before pre-builds, which have their own fair scheduling', async () => {
  const turns = openTurns(harness);
  await prebuild(turns, 'a1', 'a2', 'a3', 'b1');
  await ask(turns, 'c1', 'a4');
  expect(await turns.startAll()).toEqual(['c1', 'a4', 'a1', 'b1', 'a2', 'a3']);
});

test("a reader's request raises the priority of a waiting pre-build, and publishing does not lower it", async () => {
  const turns = openTurns(harness);
  await prebuild(turns, 'a1', 'a2', 'a3');
  await ask(turns, 'b1', 'b2', 'a3');
  await prebuild(turns, 'a3', 'b1');
  expect(await countJobsAhead(turns.queue, jobNamed('a3').key)).toBe(1);
  expect(await turns.startAll()).toEqual(['b1', 'a3', 'b2', 'a1', 'a2']);
});

test("a retried build counts for its organization, and waits behind another organization's single export", async () => {
  const turns = openTurns(harness);
  await ask(turns, 'a1', 'a2', 'a3');
  const failed = await turns.startJob();
  await reassignPriority(turns.queue, jobNamed('a1'), 'same');
  await ask(turns, 'b1');
  await failed?.moveToWait(lockToken);
  expect(await turns.startAll()).toEqual(['b1', 'a2', 'a3', 'a1']);
});

test('a retried pre-build keeps its pre-build priority', async () => {
  const turns = openTurns(harness);
  await prebuild(turns, 'a1', 'a2');
  const failed = await turns.startJob();
  await reassignPriority(turns.queue, jobNamed('a1'), 'same');
  await failed?.moveToWait(lockToken);
  await ask(turns, 'b1');
  expect(await turns.startAll()).toEqual(['b1', 'a2', 'a1']);
});

test('an archive requested again long after its job gets the queue position of a new one', async () => {
  const turns = openTurns(harness);
  await ask(turns, 'a1');
  await fail(turns);
  await ask(turns, ...namesOf('b', 20));
  for (let start = 0; start < 10; start += 1) await turns.start();

  const ended = await turns.queue.getJob(jobNamed('a1').key);
  if (ended === undefined) throw new Error('The job is gone');
  const asked = Date.now();
  await Promise.all([1, 2, 3].map(() => rerunEndedExport(turns.queue, ended, 'failed')));
  await ask(turns, 'c1', 'a2');
  expect((await turns.queue.getJob(ended.data.key))?.timestamp).toBeGreaterThanOrEqual(asked - 1000);
  expect((await turns.startAll()).slice(0, 5)).toEqual(['a1', 'c1', 'b11', 'a2', 'b12']);
});

test('after Redis was emptied, scheduling is fair from the first job on', async () => {
  const turns = openTurns(harness);
  await ask(turns, ...namesOf('a', 10));
  for (let start = 0; start < 5; start += 1) await turns.start();
  await turns.queue.obliterate({ force: true });
  const keys = await turns.redis.keys(turns.queue.toKey('*'));
  if (keys.length > 0) await turns.redis.del(keys);

  await ask(turns, 'a1', 'a2', 'a3', 'b1');
  expect(await turns.startAll()).toEqual(['a1', 'b1', 'a2', 'a3']);
});

test('scheduling survives the largest priority: after half a million builds all waiting jobs move down in order', async () => {
  const turns = openTurns(harness);
  const { queue, redis } = turns;
  const builds = 600_000;
  await redis.hset(queue.toKey('fair'), { read: builds, prebuild: builds });
  const priorities = async () => {
    const jobs = await queue.getJobs(['prioritized'], 0, -1, true);
    return jobs.map(({ data, priority }) => [data.slug, priority]);
  };
  await prebuild(turns, 'p1', 'p2');
  // Each of these moves all jobs down, because the virtual time is that after a million builds.
  await ask(turns, 'a1', 'a2');
  expect(await priorities()).toEqual([
    ['a1', 1],
    ['a2', 2],
    ['p1', 2 ** 20],
    ['p2', 2 ** 20 + 1],
  ]);

  await redis.hset(queue.toKey('fair'), { read: builds });
  await redis.zadd(queue.toKey('fair:read'), String(builds + 2), 'a');
  await ask(turns, 'b1', 'a3');
  expect(await turns.startAll()).toEqual(['a1', 'a2', 'b1', 'a3', 'p1', 'p2']);
});

test('organizations without waiting jobs leave nothing in Redis', async () => {
  const turns = openTurns(harness);
  await ask(turns, ...namesOf('a', 3), 'b1', 'c1');
  await turns.startAll();
  await ask(turns, 'd1', 'd2');
  expect(await turns.redis.zrange(turns.queue.toKey('fair:read'), '0', '-1')).toEqual(['a', 'd']);
});
