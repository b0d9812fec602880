import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { DownloadSlots } from '../../../shared/media/downloads/slots.ts';

const { signal } = new AbortController();
setMaxListeners(0, signal);

const owner = { host: 'host', organizationId: 'a' };
const settle = () => new Promise(setImmediate);

test('hosts without requests take no memory', async () => {
  const slots = new DownloadSlots({ perHost: 2 });
  const tasks = Array.from({ length: 1000 }, (_, i) =>
    slots.run({ host: `host-${i % 300}`, organizationId: 'a' }, signal, () => Promise.resolve(i)),
  );
  expect(slots.size).toBe(300);
  expect(await Promise.all(tasks)).toHaveLength(1000);
  expect(slots.size).toBe(0);
});

test('a failed task, and one aborted while it waits, free their slots', async () => {
  const slots = new DownloadSlots({ perHost: 1 });
  const controller = new AbortController();
  let finish = () => {};
  const running = slots.run(owner, signal, () => new Promise<void>((resolve) => (finish = resolve)));
  const failed = expect(slots.run(owner, signal, () => Promise.reject(new Error('failed')))).rejects.toThrow(
    'failed',
  );
  const waiting = slots.run(owner, controller.signal, () => expect.unreachable('it was aborted'));
  controller.abort(new Error('aborted'));
  await expect(waiting).rejects.toThrow('aborted');
  finish();
  await running;
  await failed;
  await slots.run(owner, signal, () => Promise.resolve());
  expect(slots.size).toBe(0);
});

test('a running task that is aborted can clean up', async () => {
  const slots = new DownloadSlots({ perHost: 1 });
  const controller = new AbortController();
  const events: string[] = [];
  const task = slots.run(owner, controller.signal, async () => {
    await new Promise((resolve) => controller.signal.addEventListener('abort', resolve));
    await settle();
    events.push('cleaned up');
  });
  await settle();
  controller.abort();
  await task;
  expect(events).toEqual(['cleaned up']);
});

/**
 * Starts requests that run until `release`, named by organization and host, such as "a1". Those that open a new
 * connection have a third character: "a1n".
 */
function hold(slots: DownloadSlots) {
  const running: { name: string; end: () => void }[] = [];
  return {
    running: () => running.map(({ name }) => name),
    async start(...names: string[]) {
      for (const name of names) {
        const [organizationId = '', host = '', newConnection] = name;
        void slots.run({ host, organizationId, newConnection: newConnection === 'n' }, signal, () => {
          return new Promise<void>((end) => running.push({ name, end }));
        });
      }
      await settle();
    },
    async release(name: string) {
      const [ended] = running.splice(
        running.findIndex((one) => one.name === name),
        1,
      );
      ended?.end();
      await settle();
    },
  };
}

test.each([
  {
    what: 'the last free slot of a host is reserved for an organization without one',
    limits: { perHost: 3 },
    start: ['a1', 'a1', 'a1', 'b1'],
    running: ['a1', 'a1', 'b1'],
  },
  {
    what: 'a host with a shared connection has more slots, and reserves the last free one in the same way',
    limits: { perHost: 2, perSharedConnection: (host: string) => (host === '1' ? 4 : null) },
    start: ['a1', 'a1', 'a1', 'a1', 'b1', 'a2', 'a2', 'b2'],
    running: ['a1', 'a1', 'a1', 'b1', 'a2', 'b2'],
  },
  {
    what: 'requests with new connections get no more slots at such a host than at others, and reserve the last one',
    limits: { perHost: 2, perSharedConnection: () => 9 },
    start: ['a1', 'a1', 'a1', 'a1n', 'a1n', 'b1n'],
    running: ['a1', 'a1', 'a1', 'a1n', 'b1n'],
  },
  {
    what: 'the last free slot of all is reserved for an organization without one',
    limits: { perHost: 9, total: 3 },
    start: ['a1', 'a2', 'a3', 'b4'],
    running: ['a1', 'a2', 'b4'],
  },
  {
    what: 'an organization never exceeds its share, even with free slots',
    limits: { perHost: 9, perOrganization: 2, total: 9 },
    start: ['a1', 'a2', 'a3'],
    running: ['a1', 'a2'],
  },
  {
    what: 'requests that wait for their host take no slot from other hosts',
    limits: { perHost: 1, total: 4 },
    start: ['a1', 'a1', 'a1', 'a2', 'a3'],
    running: ['a1', 'a2', 'a3'],
  },
])('$what', async ({ limits, start, running }) => {
  const held = hold(new DownloadSlots(limits));
  await held.start(...start);
  expect(held.running()).toEqual(running);
});

test('organizations with equally many slots take turns', async () => {
  const held = hold(new DownloadSlots({ perHost: 9, total: 1 }));
  await held.start('a1', 'a1', 'a1', 'a1', 'b1', 'b2');
  const turns: string[] = [];
  for (let [next] = held.running(); next !== undefined; [next] = held.running()) {
    turns.push(next);
    await held.release(next);
  }
  expect(turns).toEqual(['a1', 'a1', 'b1', 'a1', 'b2', 'a1']);
});

test('the waiting organization with the fewest slots is next', async () => {
  const held = hold(new DownloadSlots({ perHost: 9, total: 3 }));
  await held.start('a1', 'a1', 'b1', 'a1', 'a1', 'c1');
  expect(held.running()).toEqual(['a1', 'a1', 'b1']);
  await held.release('a1');
  expect(held.running()).toEqual(['a1', 'b1', 'c1']);
});
