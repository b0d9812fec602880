import { expect, test, vi } from 'vitest';
import { startFleet } from './fleet.ts';
import { expectArchive } from './lessons.ts';
import { spawnApi, spawnWorker } from './processes.ts';
import { viewQueue } from './queue.ts';

vi.setConfig({ testTimeout: 90_000 });

const kB = 1024;

test('fifty concurrent requests over two APIs and two workers cause one build and get the same bytes', async () => {
  const fleet = await startFleet();
  const { harness, origin } = fleet;
  const [first, second] = await Promise.all([
    spawnApi(harness),
    spawnApi(harness),
    spawnWorker(harness),
    spawnWorker(harness),
  ]);
  const lesson = await fleet.publish([300 * kB, 40 * kB, 700, 1, 900 * kB]);
  const { queue, starts } = viewQueue(harness);

  const asked = Array.from({ length: 50 }, (_, index) =>
    fleet.request(index % 2 === 0 ? first : second, lesson),
  );
  const [answer, ...others] = await Promise.all(asked);

  if (answer === undefined) throw new Error('no answer');
  await expectArchive(answer, lesson);
  for (const { status, bytes, headers } of others) {
    expect(status).toBe(200);
    expect(bytes.equals(answer.bytes)).toBe(true);
    expect(headers.get('etag')).toBe(answer.headers.get('etag'));
  }
  expect(lesson.files.map(({ path }) => origin.requests(path))).toEqual([1, 1, 1, 1, 1]);
  expect(await starts(lesson)).toBe(1);
  const counts = await queue.getJobCounts('completed', 'failed', 'active', 'prioritized', 'delayed');
  expect(counts).toEqual({ completed: 1, failed: 0, active: 0, prioritized: 0, delayed: 0 });
});
