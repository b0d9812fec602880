import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { runTask } from '../../shared/platform/tasks.ts';

const svg = (inside: string) => ({
  mimeType: 'image/svg+xml',
  bytes: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`),
});
const drawing = svg('<path d="M0 0h9"/>');

const sanitize = (organizationId: string, signal?: AbortSignal) =>
  runTask<{ bytes: Uint8Array }>('repairFile', drawing, { what: 'The SVG', organizationId, signal });

test('a caller that gives up waits neither for its turn nor for its task, and other tasks go on', async () => {
  const organizationId = randomUUID();
  const reason = new Error('the request has ended');
  const running = new AbortController();
  const waiting = new AbortController();
  const tasks = [
    sanitize(organizationId, running.signal),
    sanitize(organizationId, waiting.signal),
    sanitize(organizationId),
  ];
  const ended = Promise.allSettled(tasks.slice(0, 2));
  waiting.abort(reason);
  await expect(tasks[1]).rejects.toBe(reason);
  running.abort(reason);
  await expect(tasks[0]).rejects.toBe(reason);
  await ended;
  expect(await tasks[2]).toHaveLength(1);
  expect(await sanitize(organizationId)).toHaveLength(1);
});

test('a process that has failed a task without a limit takes no other organization with it', async () => {
  const what = { what: 'Nothing', organizationId: randomUUID() };
  await expect(runTask('none', null, what)).rejects.toThrow('There is no task none');
  expect(await sanitize(randomUUID())).toHaveLength(1);
});

test('requests wait for their turn for a limited time, in a queue of limited length; jobs wait until it comes', async () => {
  const organizationId = randomUUID();
  const many = svg('<g/>'.repeat(200_000));
  const run = { what: 'The SVG', organizationId };
  const first = runTask('repairFile', many, run);
  const job = sanitize(organizationId);
  const tooMany = {
    code: 'TOO_MANY_REQUESTS',
    message: 'Too many requests wait for work on lessons; try again in 10 seconds',
    retryAfterSeconds: 10,
  };
  await expect(runTask('repairFile', drawing, { ...run, wait: { maxWaitMs: 1 } })).rejects.toMatchObject(
    tooMany,
  );
  const patient = { ...run, wait: { waiting: 20, maxWaitMs: 60_000 } };
  const waiting = Array.from({ length: 19 }, () => runTask('repairFile', drawing, patient));
  await expect(runTask('repairFile', drawing, patient)).rejects.toMatchObject(tooMany);
  for (const done of [await first, await job, ...(await Promise.all(waiting))]) expect(done).toHaveLength(1);
});
