import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { file } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { holdFile } from './held-file.ts';
import { expectArchive } from './lessons.ts';
import type { PublishedLesson } from './lessons.ts';
import { patienceMilliseconds, spawnApi, spawnWorker } from './processes.ts';
import { viewQueue } from './queue.ts';

vi.setConfig({ testTimeout: 90_000 });

/** One build at a time, so that two builds are on two workers. */
const oneBuild = { WORKER_CONCURRENCY: '1' };

/** Two lessons with one file, which the origin holds back from whoever asks first. */
async function publishShared(fleet: Fleet) {
  const path = '/shared';
  const bytes = randomBytes(300_000);
  const held = holdFile(bytes);
  fleet.origin.script(path, held.behaviour, file(bytes));
  const publish = async (): Promise<PublishedLesson> => {
    const medium = { sourceUrl: fleet.origin.url(path), mimeType: 'application/pdf', extension: 'pdf' };
    const built = await buildPackage({ media: [medium] });
    const version = await buildVersion(fleet.harness, fleet.organization, built.path);
    return { version, files: [{ id: built.mediaIds[0] ?? '', path, bytes }] };
  };
  return { path, held, lessons: [await publish(), await publish()] as const };
}

test('a file that two lessons want at once, on two workers, is downloaded once', async () => {
  const fleet = await startFleet(oneBuild);
  const [api] = await Promise.all([
    spawnApi(fleet.harness),
    spawnWorker(fleet.harness),
    spawnWorker(fleet.harness),
  ]);
  const { path, held, lessons } = await publishShared(fleet);
  const { state } = viewQueue(fleet.harness);
  const first = fleet.request(api, lessons[0]);
  await held.reached;
  const second = fleet.request(api, lessons[1]);
  await waitFor('the second build', async () => (await state(lessons[1])) === 'active', patienceMilliseconds);
  held.release();
  await expectArchive(await first, lessons[0]);
  await expectArchive(await second, lessons[1]);
  expect(fleet.origin.requests(path)).toBe(1);
});

test('a worker that is killed in mid-download holds nobody up for long: another downloads the file', async () => {
  const fleet = await startFleet({ ...oneBuild, WORKER_LOCK_SECONDS: '2' });
  const [api, worker] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
  const { path, held, lessons } = await publishShared(fleet);
  const { state } = viewQueue(fleet.harness);
  const first = fleet.request(api, lessons[0]);
  await held.reached;
  await spawnWorker(fleet.harness);
  const second = fleet.request(api, lessons[1]);
  await waitFor('the second build', async () => (await state(lessons[1])) === 'active', patienceMilliseconds);
  await worker.kill();
  await expectArchive(await second, lessons[1]);
  await expectArchive(await first, lessons[0]);
  expect(fleet.origin.requests(path)).toBeGreaterThanOrEqual(2);
});
