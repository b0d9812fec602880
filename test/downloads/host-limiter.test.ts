import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { HostLimiter } from '../../shared/downloads/host-limiter.ts';

const { signal } = new AbortController();
setMaxListeners(0, signal);

test('a host takes memory only as long as something of it runs or waits', async () => {
  const limiter = new HostLimiter(2);
  const tasks = Array.from({ length: 1000 }, (_, i) =>
    limiter.run(`host-${i % 300}`, signal, () => Promise.resolve(i)),
  );
  expect(limiter.size).toBe(300);
  expect(await Promise.all(tasks)).toHaveLength(1000);
  expect(limiter.size).toBe(0);
});

test('a task that fails or is given up while it waits frees its place', async () => {
  const limiter = new HostLimiter(1);
  const controller = new AbortController();
  let finish = () => {};
  const running = limiter.run('host', signal, () => new Promise<void>((resolve) => (finish = resolve)));
  const failing = limiter.run('host', signal, () => Promise.reject(new Error('failed')));
  const waiting = limiter.run('host', controller.signal, () => expect.unreachable('it was given up'));
  controller.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  finish();
  await running;
  await expect(failing).rejects.toThrow('failed');
  await limiter.run('host', signal, () => Promise.resolve());
  expect(limiter.size).toBe(0);
});

test('a task given up after it began is waited for: it may have things to undo', async () => {
  const limiter = new HostLimiter(1);
  const controller = new AbortController();
  const events: string[] = [];
  const task = limiter.run('host', controller.signal, async () => {
    await new Promise((resolve) => controller.signal.addEventListener('abort', resolve));
    await new Promise(setImmediate);
    events.push('undone');
  });
  await Promise.resolve();
  await Promise.resolve();
  controller.abort();
  await task;
  expect(events).toEqual(['undone']);
});
