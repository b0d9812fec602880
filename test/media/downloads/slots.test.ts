import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { DownloadSlots } from '../../../shared/media/downloads/slots.ts';

const { signal } = new AbortController();
setMaxListeners(0, signal);

const host = { host: 'host', organizationId: 'a' };

test('a host takes memory only as long as something of it runs or waits', async () => {
  const slots = new DownloadSlots({ perHost: 2 });
  const tasks = Array.from({ length: 1000 }, (_, i) =>
    slots.run({ host: `host-${i % 300}`, organizationId: 'a' }, signal, () => Promise.resolve(i)),
  );
  expect(slots.size).toBe(300);
  expect(await Promise.all(tasks)).toHaveLength(1000);
  expect(slots.size).toBe(0);
});

test('a task that fails or is given up while it waits frees its place', async () => {
  const slots = new DownloadSlots({ perHost: 1 });
  const controller = new AbortController();
  let finish = () => {};
  const running = slots.run(host, signal, () => new Promise<void>((resolve) => (finish = resolve)));
  const failing = slots.run(host, signal, () => Promise.reject(new Error('failed')));
  const waiting = slots.run(host, controller.signal, () => expect.unreachable('it was given up'));
  controller.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  finish();
  await running;
  await expect(failing).rejects.toThrow('failed');
  await slots.run(host, signal, () => Promise.resolve());
  expect(slots.size).toBe(0);
});

test('a task given up after it began is waited for: it may have things to undo', async () => {
  const slots = new DownloadSlots({ perHost: 1 });
  const controller = new AbortController();
  const events: string[] = [];
  const task = slots.run(host, controller.signal, async () => {
    await new Promise((resolve) => controller.signal.addEventListener('abort', resolve));
    await new Promise(setImmediate);
    events.push('undone');
  });
  await settle();
  controller.abort();
  await task;
  expect(events).toEqual(['undone']);
});

/** Starts requests that go on until they are released, named as their organization and host, such as "a1". */
function hold(slots: DownloadSlots) {
  const running = new Map<string, () => void>();
  let count = 0;
  return {
    running: () => [...running.keys()].map((name) => name.split(' ', 1)[0]),
    async start(...names: string[]) {
      for (const name of names) {
        const [organizationId = '', hostName = ''] = name;
        const task = () =>
          new Promise<void>((resolve) => {
            running.set(`${name} ${(count += 1)}`, resolve);
          });
        void slots.run({ host: hostName, organizationId }, signal, task);
      }
      await settle();
    },
    async release(name: string) {
      const [key = ''] = [...running.keys()].filter((known) => known.startsWith(name));
      running.get(key)?.();
      running.delete(key);
      await settle();
    },
  };
}

const settle = () => new Promise(setImmediate);

test.each([
  ['of a host', { perHost: 3 }, ['a1', 'a1', 'a1'], ['a1', 'a1'], 'b1'],
  ['of all', { perHost: 9, total: 3 }, ['a1', 'a2', 'a3'], ['a1', 'a2'], 'b4'],
])(
  'the last free slot %s stays open to an organization that has none',
  async (_of, limits, first, some, other) => {
    const held = hold(new DownloadSlots(limits));
    await held.start(...first);
    expect(held.running()).toEqual(some);
    await held.start(other);
    expect(held.running()).toEqual([...some, other]);
  },
);

test('an organization has no more slots than its share, whatever is free', async () => {
  const held = hold(new DownloadSlots({ perHost: 9, perOrganization: 2, total: 9 }));
  await held.start('a1', 'a2', 'a3');
  expect(held.running()).toEqual(['a1', 'a2']);
});

test('a request that waits for its host takes no slot from those of other hosts', async () => {
  const held = hold(new DownloadSlots({ perHost: 1, total: 4 }));
  await held.start('a1', 'a1', 'a1', 'a2', 'a3');
  expect(held.running()).toEqual(['a1', 'a2', 'a3']);
});

test('organizations with as many slots take turns, however much one of them waits for', async () => {
  const held = hold(new DownloadSlots({ perHost: 9, total: 1 }));
  await held.start('a1', 'a1', 'a1', 'a1', 'b1', 'b2');
  const turns: (string | undefined)[] = [];
  for (let [next] = held.running(); next !== undefined; [next] = held.running()) {
    turns.push(next);
    await held.release(next);
  }
  expect(turns).toEqual(['a1', 'a1', 'b1', 'a1', 'b2', 'a1']);
});

test('of those that wait the organization with the fewest slots is next, whoever came first', async () => {
  const held = hold(new DownloadSlots({ perHost: 9, total: 3 }));
  await held.start('a1', 'a1', 'b1', 'a1', 'a1', 'c1');
  expect(held.running()).toEqual(['a1', 'a1', 'b1']);
  await held.release('a1');
  expect(held.running()).toEqual(['a1', 'b1', 'c1']);
});
