import { UnrecoverableError } from 'bullmq';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enqueueExport, removeWaiter } from '../../shared/exports/enqueue.ts';
import { findCancelled, requestCancellation } from '../../shared/exports/cancel.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jobNamed, lockToken, openTurns } from './turns.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const job = jobNamed('a1');

test('cancelling removes a waiting job from the queue', async () => {
  const { queue, ...turns } = openTurns(harness);
  await enqueueExport(queue, job, null);
  expect(await requestCancellation(queue, job.key)).toBe('removed');
  expect(await turns.start()).toBeNull();
  expect(await requestCancellation(queue, job.key)).toBe('none');
});

test('a job with waiting requests is cancelled only after the last one has left', async () => {
  const { queue } = openTurns(harness);
  await enqueueExport(queue, job, 'one');
  await enqueueExport(queue, job, 'two');
  await removeWaiter(queue, job.key, 'one');
  expect(await requestCancellation(queue, job.key)).toBe('wanted');
  await removeWaiter(queue, job.key, 'two');
  expect(await requestCancellation(queue, job.key)).toBe('removed');
});

test('a waiting request that has not polled for a while counts as gone', async () => {
  const { queue, redis } = openTurns(harness);
  await enqueueExport(queue, job, 'crashed');
  const waiters = queue.toKey(`waiters:${job.key}`);
  const [seconds] = await redis.time();
  const left = Number(await redis.zscore(waiters, 'crashed')) - Number(seconds);
  expect(left).toBeGreaterThan(5);
  expect(left).toBeLessThanOrEqual(15);
  await redis.zadd(waiters, Number(seconds), 'crashed');
  expect(await requestCancellation(queue, job.key)).toBe('removed');
});

test('a running job is aborted, unless a request for its archive comes first', async () => {
  const turns = openTurns(harness);
  const { queue } = turns;
  const running = [jobNamed('a1').key, jobNamed('b1').key];
  await ask(turns, 'a1', 'b1');
  await turns.start();
  await turns.start();

  expect(await requestCancellation(queue, job.key)).toBe('stopping');
  expect(await findCancelled(queue, running)).toEqual([job.key]);
  await enqueueExport(queue, job, 'one');
  expect(await findCancelled(queue, running)).toEqual([]);
});

test('a finished job is not cancelled, and operators can still see it', async () => {
  const turns = openTurns(harness);
  const { queue } = turns;
  await ask(turns, 'a1');
  const started = await turns.startJob();
  await started?.moveToFailed(new UnrecoverableError('for the test'), lockToken);
  expect(await requestCancellation(queue, job.key)).toBe('none');
  expect(await queue.getJobState(job.key)).toBe('failed');
});
