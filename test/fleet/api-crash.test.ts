import { expect, test, vi } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import { holdFile } from './held-file.ts';
import { expectArchive } from './lessons.ts';
import { longTimeoutMs, spawnApi, spawnWorker } from './processes.ts';
import { viewQueue } from './queue.ts';

vi.setConfig({ testTimeout: 90_000 });

test('an export continues when its API is killed, and another API serves it', async () => {
  const fleet = await startFleet();
  const [first, second] = await Promise.all([
    spawnApi(fleet.harness),
    spawnApi(fleet.harness),
    spawnWorker(fleet.harness),
  ]);
  const lesson = await fleet.publish([20_000]);
  const [file] = lesson.files;
  if (file === undefined) throw new Error('The lesson has no files');
  const held = holdFile(file.bytes);
  fleet.origin.script(file.path, held.behaviour);
  const { starts, state } = viewQueue(fleet.harness);

  const asked = fleet.request(first, lesson);
  const lost = expect(asked).rejects.toThrow();
  await held.reached;
  await first.kill();
  await lost;
  held.release();
  await waitFor('the end of the job', async () => (await state(lesson)) === 'completed', longTimeoutMs);

  await expectArchive(await fleet.request(second, lesson), lesson);
  expect(await starts(lesson)).toBe(1);
  expect(fleet.origin.requests(file.path)).toBe(1);
});
