import { expect, onTestFinished, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { file } from '../support/origin.ts';
import { useStarted } from '../support/use.ts';
import { useExportLab } from './lab.ts';
import { openQueue } from './open-queue.ts';
import { unknownBytes } from '../support/factories.ts';

/* Archives that lack files, and hosts whose clocks or stores differ. */

const lab = useExportLab();
const queue = useStarted(
  () => openQueue(lab.harness),
  (opened) => opened.close(),
);

const build = (...names: string[]) =>
  lab.publish({ media: names.map((name) => ({ sourceUrl: lab.origin.url(name) })) });

async function startWorker(settings: Record<string, string> = {}): Promise<void> {
  const end = await lab.harness.startWorker(settings);
  onTestFinished(end);
}

const incompleteKey = (version: LessonVersion) =>
  `${lab.harness.config.redisPrefix}:incomplete-builds:${exportJobOf(version).key}`;

/** Moves the last build of a version back in time by this long. */
async function passSeconds(version: LessonVersion, seconds: number): Promise<void> {
  const key = incompleteKey(version);
  await queue.jobs.redis.pexpire(key, (await queue.jobs.redis.pttl(key)) - seconds * 1000);
}

test('rebuilds of an export that stays incomplete back off until it is complete', async () => {
  await startWorker();
  lab.origin.script('/changing', (request, response) =>
    file(unknownBytes(100), { contentType: 'image/png' })(request, response),
  );
  const version = await build('/changing', '/dead');
  await lab.get(version);
  const builds = [lab.origin.requests('/changing')];
  for (const seconds of [30, 31, 61, 61, 121, 121]) {
    await passSeconds(version, seconds);
    expect((await lab.get(version)).status).toBe(200);
    builds.push(lab.origin.requests('/changing'));
  }
  // Retries follow after one minute, two more and four more, not every minute.
  expect(builds).toEqual([1, 1, 2, 2, 3, 3, 4]);

  lab.origin.serve('/dead', unknownBytes(100), { contentType: 'image/png' });
  await passSeconds(version, 3_600);
  await lab.get(version);
  const { key } = exportJobOf(version);
  const complete = await lab.harness.store.archives.open(key);
  await complete?.close();
  expect(complete).not.toBeNull();
  expect(await queue.jobs.redis.exists(incompleteKey(version))).toBe(0);
});
