import { expect, test } from 'vitest';
import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';

/** Starts work that runs until the test ends it. */
function start(limit: ConcurrencyLimit, organization: string, signal?: AbortSignal) {
  const { promise, end } = held();
  const work = { hasBegun: false, end, done: Promise.resolve() };
  work.done = limit.run(organization, signal, () => {
    work.hasBegun = true;
    return promise;
  });
  work.done.catch(() => undefined);
  return work;
}

function held() {
  let end: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => (end = resolve));
  return { promise, end };
}

const turn = () => new Promise(setImmediate);

test('work above the limit of an organization waits in order, and another organization’s begins at once', async () => {
  const limit = new ConcurrencyLimit({ concurrent: 2 });
  const works = ['a', 'a', 'a', 'a', 'b'].map((organization) => start(limit, organization));
  await turn();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false, false, true]);
  works[1]?.end();
  await turn();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false, true]);
  for (const { end } of works) end();
  await Promise.all(works.map(({ done }) => done));
});

test('owners together stay below the limit of the process; one that waits for it keeps its own place', async () => {
  const limit = new ConcurrencyLimit({ concurrent: 2, inAll: 3, maxWaitMs: 20 });
  const works = ['a', 'a', 'b', 'b', 'c'].map((owner) => start(limit, owner));
  await turn();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false, false]);
  works[0]?.end();
  await turn();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, true, false]);
  await expect(works[4]?.done).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  for (const { end } of works) end();
  await Promise.all(works.slice(0, 4).map(({ done }) => done));
  const again = ['c', 'c', 'd'].map((owner) => start(limit, owner));
  await turn();
  expect(again.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true]);
  for (const { end } of again) end();
});

test('places that are released together go to different waiting work', async () => {
  const limit = new ConcurrencyLimit({ concurrent: 2 });
  const works = Array.from({ length: 5 }, () => start(limit, 'a'));
  await turn();
  works[0]?.end();
  works[1]?.end();
  await turn();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, true, false]);
  for (const { end } of works) end();
  await Promise.all(works.map(({ done }) => done));
});

test('work beyond the queue, and work that waits too long, gets 429 with a retry time', async () => {
  const limit = new ConcurrencyLimit({ concurrent: 1, waiting: 1, maxWaitMs: 20, refusal: 'Too much' });
  const [running, late, refused] = [start(limit, 'a'), start(limit, 'a'), start(limit, 'a')];
  for (const { done } of [refused, late]) {
    await expect(done).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      message: 'Too much; try again in 10 seconds',
      retryAfterSeconds: 10,
    });
  }
  running.end();
  await running.done;
  const next = start(limit, 'a');
  next.end();
  await next.done;
});

test('an abort ends a wait with its reason, and failed work releases its place', async () => {
  const limit = new ConcurrencyLimit({ concurrent: 1 });
  const { promise, end } = held();
  const failing = limit.run('a', undefined, async () => {
    await promise;
    throw new Error('for the test');
  });
  const leaving = new AbortController();
  const gone = start(limit, 'a', leaving.signal);
  const last = start(limit, 'a');
  leaving.abort(new Error('the client is gone'));
  await expect(gone.done).rejects.toThrow('the client is gone');
  end();
  await expect(failing).rejects.toThrow('for the test');
  last.end();
  await last.done;
  expect([gone.hasBegun, last.hasBegun]).toEqual([false, true]);
});
