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
import { longTimeoutMs, spawnApi, spawnWorker } from './processes.ts';

vi.setConfig({ testTimeout: 90_000 });

/** One build at a time, so that two builds are on two workers. */
const oneBuild = { WORKER_CONCURRENCY: '1' };

/**
 * Two lessons with one file, which the origin pauses for the first request; the second lesson has
 * one more file.
 */
async function publishShared(fleet: Fleet) {
  const path = '/shared';
  const bytes = randomBytes(300_000);
  const held = holdFile(bytes);
  fleet.origin.script(path, held.behaviour, file(bytes));
  const more = { path: '/more', bytes: randomBytes(1000) };
  fleet.origin.serve(more.path, more.bytes);
  const publish = async (...files: { path: string; bytes: Buffer }[]): Promise<PublishedLesson> => {
    const media = files.map((one) => ({
      sourceUrl: fleet.origin.url(one.path),
      mimeType: 'application/pdf',
      extension: 'pdf',
    }));
    const built = await buildPackage({ media });
    const version = await buildVersion(fleet.harness, fleet.organization, built.path);
    return { version, files: files.map((one, index) => ({ ...one, id: built.mediaIds[index] ?? '' })) };
  };
  const lessons = [await publish({ path, bytes }), await publish({ path, bytes }, more)] as const;
  /** Resolves when the second lesson's build has begun to request its files. */
  const secondBegun = () =>
    waitFor('the second build', () => fleet.origin.requests(more.path) > 0, longTimeoutMs);
  return { path, held, lessons, secondBegun };
}

test('a file needed by two lessons at once, on two workers, is downloaded once', async () => {
  const fleet = await startFleet(oneBuild);
  const [api] = await Promise.all([
    spawnApi(fleet.harness),
    spawnWorker(fleet.harness),
    spawnWorker(fleet.harness),
  ]);
  const { path, held, lessons, secondBegun } = await publishShared(fleet);
  const first = fleet.request(api, lessons[0]);
  await held.reached;
  const second = fleet.request(api, lessons[1]);
  await secondBegun();
  held.release();
  await expectArchive(await first, lessons[0]);
  await expectArchive(await second, lessons[1]);
  expect(fleet.origin.requests(path)).toBe(1);
});

test('after a worker is killed in mid-download, another one soon downloads the file', async () => {
  const fleet = await startFleet({ ...oneBuild, WORKER_LOCK_SECONDS: '2' });
  const [api, worker] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
  const { path, held, lessons, secondBegun } = await publishShared(fleet);
  const first = fleet.request(api, lessons[0]);
  await held.reached;
  await spawnWorker(fleet.harness);
  const second = fleet.request(api, lessons[1]);
  await secondBegun();
  await worker.kill();
  await expectArchive(await second, lessons[1]);
  await expectArchive(await first, lessons[0]);
  expect(fleet.origin.requests(path)).toBeGreaterThanOrEqual(2);
});
