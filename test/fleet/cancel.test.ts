import { UnrecoverableError } from 'bullmq';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askForExport, stopWaiting } from '../../shared/exports/ask.ts';
import { findCancelled, requestCancel } from '../../shared/exports/cancel.ts';
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
  await askForExport(queue, job, null);
  expect(await requestCancel(queue, job.key)).toBe('removed');
  expect(await turns.start()).toBeNull();
  expect(await requestCancel(queue, job.key)).toBe('none');
});

test('a job with waiting requests is cancelled only after the last one has left', async () => {
  const { queue } = openTurns(harness);
  await askForExport(queue, job, 'one');
  await askForExport(queue, job, 'two');
  await stopWaiting(queue, job.key, 'one');
  expect(await requestCancel(queue, job.key)).toBe('wanted');
  await stopWaiting(queue, job.key, 'two');
  expect(await requestCancel(queue, job.key)).toBe('removed');
});

test('a waiting request that has not polled for a while counts as gone', async () => {
  const { queue, redis } = openTurns(harness);
  await askForExport(queue, job, 'crashed');
  const waiters = queue.toKey(`waiters:${job.key}`);
  const [seconds] = await redis.time();
  const left = Number(await redis.zscore(waiters, 'crashed')) - Number(seconds);
  expect(left).toBeGreaterThan(5);
  expect(left).toBeLessThanOrEqual(15);
  await redis.zadd(waiters, Number(seconds), 'crashed');
  expect(await requestCancel(queue, job.key)).toBe('removed');
});

test('a running job is aborted, unless a request for its archive comes first', async () => {
  const turns = openTurns(harness);
  const { queue } = turns;
  const running = [jobNamed('a1').key, jobNamed('b1').key];
  await ask(turns, 'a1', 'b1');
  await turns.start();
  await turns.start();

  expect(await requestCancel(queue, job.key)).toBe('stopping');
  expect(await findCancelled(queue, running)).toEqual([job.key]);
  await askForExport(queue, job, 'one');
  expect(await findCancelled(queue, running)).toEqual([]);
});

test('a finished job is not cancelled, and operators can still see it', async () => {
  const turns = openTurns(harness);
  const { queue } = turns;
  await ask(turns, 'a1');
  const started = await turns.startJob();
  await started?.moveToFailed(new UnrecoverableError('for the test'), lockToken);
  expect(await requestCancel(queue, job.key)).toBe('none');
  expect(await queue.getJobState(job.key)).toBe('failed');
});
