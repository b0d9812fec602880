import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { exportJobOf, exportJobSchema } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { noCoordination } from '../../shared/coordination/coordination.ts';
import { JobOfOtherRelease } from '../../worker/exports/profiles/profile.ts';
import { buildArchive } from '../../worker/exports/build-archive.ts';
import { read } from '../storage/stores.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { takeApart } from './exports.ts';

let harness: Harness;
let version: LessonVersion;
beforeAll(async () => {
  harness = await startHarness();
  const { organization } = await buildOrganization(harness);
  version = await buildVersion(harness, organization, (await buildPackage()).path);
});
afterAll(() => harness.close());

async function build(
  job: ExportJob,
  { maxBytes, onProgress }: { maxBytes?: number; onProgress?: (progress: ExportProgress) => void } = {},
): Promise<ExportResult> {
  const { db, store, config } = harness;
  const downloader = createDownloader(config.download);
  const limits = { ...config.export, ...(maxBytes !== undefined && { maxBytes }) };
  try {
    return await buildArchive(
      { db, store, downloader, coordination: noCoordination, config: { ...config, export: limits } },
      job,
      {
        signal: new AbortController().signal,
        onProgress: onProgress ?? (() => undefined),
      },
    );
  } finally {
    downloader.close();
  }
}

test('a job queued before profiles existed builds the archive without the player', () => {
  const { profile, ...job } = exportJobOf(version);
  expect(profile).toBe('plain');
  expect(exportJobSchema.parse(job)).toEqual(exportJobOf(version));
  expect(exportJobSchema.safeParse({ ...job, profile: 'player:' }).success).toBe(false);
});

test('the keys of exports, which name archives in stores, never change', () => {
  const frozen = {
    ...version,
    _id: '0b0f6f63-5c1d-4c53-8a1d-0d3f5a0c9a11',
    publishedAt: new Date('2026-01-02T03:04:05.678Z'),
  };
  expect(exportJobOf(frozen).key).toBe('x2c1f553731ec628e2c8f4be4e58cd7ff622a6d8e');
  expect(exportJobOf(frozen, 'player:1.2.3-0a1b2c3d').key).toBe('xf336a2ac64604b151d62199aa55ab3990b016fc9');
});

test('a worker without the release of the player, the profile or the archive format builds nothing, and says why', async () => {
  const job = exportJobOf(version, 'player:0.0.1-00000000');
  const { name } = await playerRelease();
  await expect(build(job)).rejects.toThrow(
    new JobOfOtherRelease(`This worker has the player ${name}, not 0.0.1-00000000`),
  );
  for (const other of [{ format: '1.0.0/99' }, { profile: 'unknown:1' }])
    await expect(build({ ...exportJobOf(version), ...other })).rejects.toThrow(JobOfOtherRelease);
  expect(await harness.store.archives.open(job.key)).toBeNull();
});

test("progress counts the player's files, and the archive limit counts their bytes", async () => {
  const job = exportJobOf(version, `player:${(await playerRelease()).name}`);
  const told: ExportProgress[] = [];
  const { size, files } = await build(job, { onProgress: (progress) => told.push(progress) });
  expect(told.at(-1)).toMatchObject({ done: files, total: files });
  const archive = await harness.store.archives.open(job.key);
  const found = await takeApart(await read(archive));
  await archive?.close();
  // The empty media/ is an entry of the archive, but not a file.
  expect(found.files.size + 1).toBe(files);

  const index = found.files.get('index.html')?.length ?? 0;
  const manifest = found.files.get('manifest.json')?.length ?? 0;
  const content = [...found.files.values()].reduce((sum, bytes) => sum + bytes.length, 0) - manifest;
  expect(size).toBeGreaterThan(content);
  await harness.store.archives.delete(job.key);
  await expect(build(job, { maxBytes: content - 1 })).rejects.toMatchObject({ code: 'INVALID_CONTENT' });
  await expect(build(job, { maxBytes: content - index - 1 })).rejects.toMatchObject({
    code: 'INVALID_CONTENT',
  });
  expect(await build(job, { maxBytes: content })).toMatchObject({ size });
});
