import { expect, test } from 'vitest';
import { BoundedQueue } from '../../api/exports/export-manifest.endpoints.ts';

const { signal } = new AbortController();

/** Work that runs until the test ends it. */
function held() {
  let begun = false;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const work = () => {
    begun = true;
    return ended;
  };
  return { work, hasBegun: () => begun, end };
}

test('the queue limits work in progress and waiting work, and rejects more with a retry time', async () => {
  const line = new BoundedQueue({ concurrency: 2, maxWaiting: 1 });
  const [first, second, third] = [held(), held(), held()];
  const running = [first, second, third].map(({ work }) => line.run(signal, work));
  await expect(line.run(signal, held().work)).rejects.toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    retryAfterSeconds: 10,
  });
  expect([first, second, third].map(({ hasBegun }) => hasBegun())).toEqual([true, true, false]);
  for (const { end } of [first, second, third]) end();
  await Promise.all(running);
  expect(third.hasBegun()).toBe(true);
});

test('the queue continues after failed work and skips disconnected clients', async () => {
  const line = new BoundedQueue({ concurrency: 1, maxWaiting: 5 });
  const failing = line.run(signal, () => Promise.reject(new Error('for the test')));
  const gone = held();
  const left = line.run(AbortSignal.abort(new Error('the client is gone')), gone.work);
  const last = line.run(signal, () => Promise.resolve('done'));
  await Promise.all([
    expect(failing).rejects.toThrow('for the test'),
    expect(left).rejects.toThrow('the client is gone'),
  ]);
  expect(await last).toBe('done');
  expect(gone.hasBegun()).toBe(false);
});
