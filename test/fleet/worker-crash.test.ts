import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { file } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { holdFile } from './held-file.ts';
import type { HeldFile } from './held-file.ts';
import { expectArchive } from './lessons.ts';
import type { PublishedLesson } from './lessons.ts';
import { longTimeoutMs, spawnApi, spawnWorker } from './processes.ts';
import { viewQueue } from './queue.ts';

vi.setConfig({ testTimeout: 90_000 });

const MB = 1024 ** 2;

/** Another worker takes over a stalled job after two to four seconds. */
const quickTakeOver = { WORKER_LOCK_SECONDS: '2' };

/**
 * A lesson whose last file is paused for the first request, when the rest of the archive is
 * written.
 */
async function publishHeld(fleet: Fleet): Promise<{ lesson: PublishedLesson; held: HeldFile }> {
  const lesson = await fleet.publish([2 * MB, 3 * MB, MB]);
  const last = lesson.files.at(-1);
  if (last === undefined) throw new Error('The lesson has no files');
  const held = holdFile(last.bytes);
  fleet.origin.script(last.path, held.behaviour, file(last.bytes));
  return { lesson, held };
}

/** Asserts that the store has one archive, and that its bytes match the digest in its name. */
async function expectOneArchive(fleet: Fleet, bytes: Buffer): Promise<void> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect((await fleet.stored()).archives).toEqual([`${sha256}.zip`]);
}

test('another worker finishes an export whose worker was killed in mid-archive, however often that happened before', async () => {
  const fleet = await startFleet(quickTakeOver);
  const [api, first] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
  const { lesson, held } = await publishHeld(fleet);
  const { starts, stallOften } = viewQueue(fleet.harness);

  const asked = fleet.request(api, lesson);
  await held.reached;
  await stallOften(lesson);
  await waitFor(
    'a draft and a download',
    async () => (await fleet.cached()).length === 2 && (await fleet.stored()).temporaries.length === 2,
    longTimeoutMs,
  );
  await first.kill();
  const left = await fleet.stored();
  expect(left.archives).toEqual([]);
  expect(left.temporaries).toHaveLength(2);

  await spawnWorker(fleet.harness);
  const answer = await asked;
  await expectArchive(answer, lesson);
  await expectOneArchive(fleet, answer.bytes);
  expect(await starts(lesson)).toBe(2);

  expect(await fleet.harness.store.sweepTemporaries(0)).toBe(2);
  expect((await fleet.stored()).temporaries).toEqual([]);
});

test('a frozen worker whose export was taken over does no harm when it continues', async () => {
  const fleet = await startFleet(quickTakeOver);
  const [api, first] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
  const { lesson, held } = await publishHeld(fleet);
  const { starts } = viewQueue(fleet.harness);

  const asked = fleet.request(api, lesson);
  await held.reached;
  first.signal('SIGSTOP');
  const second = await spawnWorker(fleet.harness);
  const answer = await asked;
  await expectArchive(answer, lesson);
  expect(await starts(lesson)).toBe(2);

  held.release();
  first.signal('SIGCONT');
  await waitFor(
    'the end of the first build',
    async () => (await fleet.stored()).temporaries.length === 0,
    longTimeoutMs,
  );
  await expectOneArchive(fleet, answer.bytes);
  expect((await fleet.request(api, lesson)).bytes.equals(answer.bytes)).toBe(true);
  expect(await starts(lesson)).toBe(2);

  // It has noticed the loss, and continues to work.
  await second.kill();
  const next = await fleet.publish([MB]);
  await expectArchive(await fleet.request(api, next), next);
});

test('a worker that shuts down finishes its export, leaves the waiting ones to others, and exits with 0', async () => {
  const fleet = await startFleet({ WORKER_CONCURRENCY: '1' });
  const [api, first] = await Promise.all([
    spawnApi(fleet.harness),
    spawnWorker(fleet.harness, { LOG_LEVEL: 'info' }),
  ]);
  const { lesson, held } = await publishHeld(fleet);
  const waiting = await fleet.publish([1000]);
  const { starts, state } = viewQueue(fleet.harness);

  const asked = fleet.request(api, lesson);
  await held.reached;
  const askedNext = fleet.request(api, waiting);
  await waitFor(
    'the second job in the queue',
    async () => (await state(waiting)) === 'prioritized',
    longTimeoutMs,
  );
  first.signal('SIGTERM');
  await first.logged('"stopping"');
  held.release();
  await expectArchive(await asked, lesson);
  expect(await first.ended).toBe('exit code 0');
  expect(await starts(lesson)).toBe(1);
  expect(await state(waiting)).toBe('prioritized');
  expect((await fleet.stored()).temporaries).toEqual([]);

  await spawnWorker(fleet.harness);
  await expectArchive(await askedNext, waiting);
  expect(await starts(waiting)).toBe(1);
});
