import { expect, test } from 'vitest';
import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('work above the limit of its owner waits in order of arrival; other owners are not affected', async () => {
  const limit = new ConcurrencyLimit({ concurrent: 2, waiting: 2, maxWaitMs: 60_000 });
  const [first, second] = [limit.tryBegin('one'), await limit.begin('one')];
  expect(limit.tryBegin('one')).toBeNull();
  expect(limit.tryBegin('two')).not.toBeNull();
  const begun: string[] = [];
  const third = limit.begin('one').then((end) => (begun.push('third'), end));
  const fourth = limit.begin('one').then((end) => (begun.push('fourth'), end));
  expect(await limit.begin('one')).toBeNull();

  first?.();
  // Ending twice frees no second slot.
  first?.();
  await turn();
  expect(begun).toEqual(['third']);
  second?.();
  const ends = await Promise.all([third, fourth]);
  expect(begun).toEqual(['third', 'fourth']);
  for (const end of ends) end?.();
  expect(limit.tryBegin('one')).not.toBeNull();
});

test('work that waits too long does not begin, and leaves its place to others', async () => {
  const limit = new ConcurrencyLimit({ concurrent: 1, maxWaitMs: 10 });
  const end = limit.tryBegin('one');
  expect(await limit.begin('one')).toBeNull();
  const next = limit.begin('one');
  end?.();
  expect(await next).not.toBeNull();
});

test('a task waits until its signal is aborted, and a failed one frees its slot', async () => {
  const limit = new ConcurrencyLimit({ concurrent: 1 });
  const stopping = new AbortController();
  const failing = limit.run('one', stopping.signal, async () => {
    await turn();
    throw new Error('no luck');
  });
  const aborted = new AbortController();
  const waiting = limit.run('one', aborted.signal, () => Promise.resolve('never'));
  const next = limit.run('one', stopping.signal, () => Promise.resolve('next'));
  const outcomes = Promise.allSettled([failing, waiting, next]);
  aborted.abort(new Error('stopped'));
  expect(await outcomes).toMatchObject([
    { status: 'rejected', reason: { message: 'no luck' } },
    { status: 'rejected', reason: { message: 'stopped' } },
    { status: 'fulfilled', value: 'next' },
  ]);
  await expect(limit.run('one', aborted.signal, () => Promise.resolve())).rejects.toThrow('stopped');
});
