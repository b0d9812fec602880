import { UnrecoverableError } from 'bullmq';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countJobsAhead,
  enqueueExport,
  enqueuePrebuild,
  maxWaitingJobs,
  rerunEndedExport,
} from '../../shared/exports/enqueue.ts';
import { reassignPriority } from '../../shared/exports/job-lifecycle.ts';
import { waitersKey } from '../../shared/exports/queue-access.ts';
import { useHarness } from '../support/use.ts';
import { enqueue, jobNamed, lockToken, namesOf, openTestQueue } from './scheduling.ts';
import type { TestQueue } from './scheduling.ts';

const harness = useHarness();

test('organizations with many waiting exports alternate, and each keeps its own order', async () => {
  const scheduler = openTestQueue(harness);
  await enqueue(scheduler, ...namesOf('a', 4), ...namesOf('b', 2), ...namesOf('c', 3));
  expect(await scheduler.startAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'c3', 'a4']);
});

test('an organization that has not exported for long comes next once, without further priority', async () => {
  const scheduler = openTestQueue(harness);
  await enqueue(scheduler, ...namesOf('a', 30));
  for (let start = 0; start < 24; start += 1) await scheduler.start();
  await enqueue(scheduler, ...namesOf('b', 2));
  expect(await scheduler.startAll()).toEqual(['b1', 'a25', 'b2', ...namesOf('a', 30).slice(25)]);
});

test('an organization may have 2000 waiting exports, which leaves room in Redis for those of others', async () => {
  const scheduler = openTestQueue(harness);
  const { queue, redis } = scheduler;
  const [last, further] = ['a2000', 'a2001'];
  const waiting = namesOf('a', maxWaitingJobs - 1).map((name) => jobNamed(name).key);
  await redis.sadd(queue.toKey('fair:jobs:a'), waiting);
  await redis.zadd(queue.toKey('prioritized'), ...waiting.flatMap((key) => [2 ** 33, key]));
  await enqueue(scheduler, last);
  const refused = jobNamed(further);
  await expect(enqueueExport(queue, refused, 'a request')).rejects.toThrow(
    '2000 exports of your organization are waiting',
  );
  expect(await redis.exists(waitersKey(queue, refused.key))).toBe(0);
  await enqueue(scheduler, last, 'b1');

  // Others have begun.
  await redis.zrem(queue.toKey('prioritized'), waiting);
  const tried = () => enqueue(scheduler, further).then(() => 'queued', String);
  await expect.poll(tried, { timeout: 30_000 }).toBe('queued');
  expect(await scheduler.startAll()).toEqual([last, 'b1', further]);
});

test('2000 waiting pre-builds of an organization leave its readers room, and reject further ones', async () => {
  const scheduler = openTestQueue(harness);
  const { queue, redis } = scheduler;
  const waiting = namesOf('a', maxWaitingJobs).map((name) => jobNamed(name).key);
  await redis.sadd(queue.toKey('fair:pre-builds:a'), waiting);
  await redis.zadd(queue.toKey('prioritized'), ...waiting.flatMap((key) => [2 ** 33, key]));
  await prebuild(scheduler, 'a2001', 'b1');
  await enqueue(scheduler, 'a2002');
  await redis.zrem(queue.toKey('prioritized'), waiting);
  expect(await scheduler.startAll()).toEqual(['a2002', 'b1']);
});

test('concurrent requests for one archive count once in fair scheduling', async () => {
  const scheduler = openTestQueue(harness);
  await Promise.all(Array.from({ length: 30 }, () => enqueue(scheduler, 'a1')));
  await enqueue(scheduler, 'a2', 'b1', 'b2');
  expect(await scheduler.startAll()).toEqual(['a1', 'b1', 'a2', 'b2']);
});

test('while an export waits, no other organization gets more than one build more than its own, in any order of events', async () => {
  const steps = fc.array(fc.constantFrom('start', 'a', 'a', 'b', 'c'), { minLength: 20, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const scheduler = openTestQueue(harness);
      const asked = { a: 0, b: 0, c: 0 };
      const waiting: { name: string; own: number; others: Map<string, number> }[] = [];
      const started = (name: string | null) => {
        const own = name?.at(0) ?? '';
        const index = waiting.findIndex((one) => one.name === name);
        const [job] = index < 0 ? [] : waiting.splice(index, 1);
        for (const count of job?.others.values() ?? [])
          expect(count).toBeLessThanOrEqual((job?.own ?? 0) + 1);
        for (const other of waiting) {
          if (!other.name.startsWith(own)) other.others.set(own, (other.others.get(own) ?? 0) + 1);
        }
      };
      for (const step of sequence) {
        if (step === 'start') {
          started(await scheduler.start());
          continue;
        }
        const organization = step;
        const name = `${organization}${(asked[organization] += 1)}`;
        const own = 1 + waiting.filter((one) => one.name.startsWith(organization)).length;
        waiting.push({ name, own, others: new Map() });
        await enqueue(scheduler, name);
      }
      for (const name of await scheduler.startAll()) started(name);
      expect(waiting).toEqual([]);
    }),
    { numRuns: 6 },
  );
});

async function prebuild({ queue }: TestQueue, ...names: string[]): Promise<void> {
  for (const name of names) await enqueuePrebuild(queue, jobNamed(name));
}

async function fail(scheduler: TestQueue): Promise<void> {
  const job = await scheduler.startJob();
  await job?.moveToFailed(new UnrecoverableError('for the test'), lockToken);
}

test('exports for readers are built before pre-builds, which have their own fair scheduling', async () => {
  const scheduler = openTestQueue(harness);
  await prebuild(scheduler, 'a1', 'a2', 'a3', 'b1');
  await enqueue(scheduler, 'c1', 'a4');
  expect(await scheduler.startAll()).toEqual(['c1', 'a4', 'a1', 'b1', 'a2', 'a3']);
});

test("a reader's request raises the priority of a waiting pre-build, and publishing does not lower it", async () => {
  const scheduler = openTestQueue(harness);
  await prebuild(scheduler, 'a1', 'a2', 'a3');
  await enqueue(scheduler, 'b1', 'b2', 'a3');
  await prebuild(scheduler, 'a3', 'b1');
  expect(await countJobsAhead(scheduler.queue, jobNamed('a3').key)).toBe(1);
  expect(await scheduler.startAll()).toEqual(['b1', 'a3', 'b2', 'a1', 'a2']);
});

test("a retried build counts for its organization, and waits behind another organization's single export", async () => {
  const scheduler = openTestQueue(harness);
  await enqueue(scheduler, 'a1', 'a2', 'a3');
  const failed = await scheduler.startJob();
  await reassignPriority(scheduler.queue, jobNamed('a1'), 'same');
  await enqueue(scheduler, 'b1');
  await failed?.moveToWait(lockToken);
  expect(await scheduler.startAll()).toEqual(['b1', 'a2', 'a3', 'a1']);
});

test('a retried pre-build keeps its pre-build priority', async () => {
  const scheduler = openTestQueue(harness);
  await prebuild(scheduler, 'a1', 'a2');
  const failed = await scheduler.startJob();
  await reassignPriority(scheduler.queue, jobNamed('a1'), 'same');
  await failed?.moveToWait(lockToken);
  await enqueue(scheduler, 'b1');
  expect(await scheduler.startAll()).toEqual(['b1', 'a2', 'a1']);
});

test('an archive requested again long after its job gets the queue position of a new one', async () => {
  const scheduler = openTestQueue(harness);
  await enqueue(scheduler, 'a1');
  await fail(scheduler);
  await enqueue(scheduler, ...namesOf('b', 20));
  for (let start = 0; start < 10; start += 1) await scheduler.start();

  const ended = await scheduler.queue.getJob(jobNamed('a1').key);
  if (ended === undefined) throw new Error('The job is gone');
  const asked = Date.now();
  await Promise.all([1, 2, 3].map(() => rerunEndedExport(scheduler.queue, ended, 'failed')));
  await enqueue(scheduler, 'c1', 'a2');
  expect((await scheduler.queue.getJob(ended.data.key))?.timestamp).toBeGreaterThanOrEqual(asked - 1000);
  expect((await scheduler.startAll()).slice(0, 5)).toEqual(['a1', 'c1', 'b11', 'a2', 'b12']);
});

test('after Redis was emptied, scheduling is fair from the first job on', async () => {
  const scheduler = openTestQueue(harness);
  await enqueue(scheduler, ...namesOf('a', 10));
  for (let start = 0; start < 5; start += 1) await scheduler.start();
  await scheduler.queue.obliterate({ force: true });
  const keys = await scheduler.redis.keys(scheduler.queue.toKey('*'));
  if (keys.length > 0) await scheduler.redis.del(keys);

  await enqueue(scheduler, 'a1', 'a2', 'a3', 'b1');
  expect(await scheduler.startAll()).toEqual(['a1', 'b1', 'a2', 'a3']);
});

test('scheduling survives the largest priority: after half a million builds all waiting jobs move down in order', async () => {
  const scheduler = openTestQueue(harness);
  const { queue, redis } = scheduler;
  const builds = 600_000;
  await redis.hset(queue.toKey('fair'), { read: builds, prebuild: builds });
  const priorities = async () => {
    const jobs = await queue.getJobs(['prioritized'], 0, -1, true);
    return jobs.map(({ data, priority }) => [data.slug, priority]);
  };
  await prebuild(scheduler, 'p1', 'p2');
  // Each of these moves all jobs down, because the virtual time is that after a million builds.
  await enqueue(scheduler, 'a1', 'a2');
  expect(await priorities()).toEqual([
    ['a1', 1],
    ['a2', 2],
    ['p1', 2 ** 20],
    ['p2', 2 ** 20 + 1],
  ]);

  await redis.hset(queue.toKey('fair'), { read: builds });
  await redis.zadd(queue.toKey('fair:read'), String(builds + 2), 'a');
  await enqueue(scheduler, 'b1', 'a3');
  expect(await scheduler.startAll()).toEqual(['a1', 'a2', 'b1', 'a3', 'p1', 'p2']);
});

test('organizations without waiting jobs leave nothing in Redis', async () => {
  const scheduler = openTestQueue(harness);
  await enqueue(scheduler, ...namesOf('a', 3), 'b1', 'c1');
  await scheduler.startAll();
  await enqueue(scheduler, 'd1', 'd2');
  expect(await scheduler.redis.zrange(scheduler.queue.toKey('fair:read'), '0', '-1')).toEqual(['a', 'd']);
});
