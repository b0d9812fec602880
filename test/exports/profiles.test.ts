import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { noIncompleteBuilds } from '../../shared/coordination/incomplete-builds.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { JobOfOtherRelease } from '../../worker/exports/profiles/profile.ts';
import { buildIfMissing } from '../../worker/exports/build-if-missing.ts';
import { read } from '../storage/stores.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { takeApart } from './exports.ts';
import { png } from './pictures.ts';

const harness = useHarness();

async function publish(): Promise<LessonVersion> {
  const { organization } = await buildOrganization(harness);
  return buildVersion(harness, organization, (await buildPackage()).path);
}

/** Builds an archive in this process, after removing an earlier one, and returns its bytes. */
async function build(
  job: ExportJob,
  { maxBytes, onProgress }: { maxBytes?: number; onProgress?: (progress: ExportProgress) => void } = {},
): Promise<Buffer> {
  const { db, store, config } = harness;
  const downloader = createDownloader(config.download);
  onTestFinished(() => downloader.close());
  const limits = { ...config.export, ...(maxBytes !== undefined && { maxBytes }) };
  const deps = {
    db,
    store,
    downloader,
    incomplete: noIncompleteBuilds,
    config: { ...config, export: limits },
  };
  await store.archives.delete(job.key);
  const { signal } = new AbortController();
  const { files, size } = await buildIfMissing(deps, job, {
    signal,
    onProgress: onProgress ?? (() => undefined),
  });
  const archive = await store.archives.open(job.key);
  const bytes = await read(archive);
  await archive?.close();
  expect(bytes).toHaveLength(size);
  const unpacked = await takeApart(bytes);
  expect(unpacked.files.size + unpacked.folders.length).toBe(files);
  return bytes;
}

test('the keys of exports, which name archives in stores, never change, and another player has another key', async () => {
  const frozen = {
    ...(await publish()),
    _id: '0b0f6f63-5c1d-4c53-8a1d-0d3f5a0c9a11',
    publishedAt: new Date('2026-01-02T03:04:05.678Z'),
  };
  expect(exportJobOf(frozen).key).toBe('x2c1f553731ec628e2c8f4be4e58cd7ff622a6d8e');
  expect(exportJobOf(frozen, 'player:1.2.3-0a1b2c3d').key).toBe('xf336a2ac64604b151d62199aa55ab3990b016fc9');
});

test('a worker without the release of the player, or the profile, builds nothing, and says why', async () => {
  const version = await publish();
  const job = exportJobOf(version, 'player:0.0.1-00000000');
  const { name } = await playerRelease();
  await expect(build(job)).rejects.toThrow(
    new JobOfOtherRelease(`This worker has the player ${name}, not 0.0.1-00000000`),
  );
  const unknown = { ...exportJobOf(version), profile: 'unknown:1' };
  await expect(build(unknown)).rejects.toThrow(JobOfOtherRelease);
  expect(await harness.store.archives.open(job.key)).toBeNull();
});

test("progress counts the player's files, and the archive limit counts their bytes", async () => {
  const job = exportJobOf(await publish(), `player:${(await playerRelease()).name}`);
  const reported: ExportProgress[] = [];
  const bytes = await build(job, { onProgress: (progress) => reported.push(progress) });
  const { files, folders } = await takeApart(bytes);
  const total = files.size + folders.length;
  expect(reported.at(-1)).toMatchObject({ done: total, total });

  const index = files.get('index.html')?.length ?? 0;
  const manifest = files.get('manifest.json')?.length ?? 0;
  const content = [...files.values()].reduce((sum, file) => sum + file.length, 0) - manifest;
  expect(bytes.length).toBeGreaterThan(content);
  for (const maxBytes of [content - 1, content - index - 1])
    await expect(build(job, { maxBytes })).rejects.toMatchObject({ code: 'INVALID_CONTENT' });
  // A rebuild has equal bytes.
  expect((await build(job, { maxBytes: content })).equals(bytes)).toBe(true);
});

test('without the player, an archive keeps the key and bytes of earlier releases', async () => {
  // A fully deterministic version without any file from a build of Lectern.
  const versionId = '22222222-0000-4000-8000-000000000000';
  const mediumId = '33333333-0000-4000-8000-000000000000';
  const publishedAt = new Date('2026-01-15T09:00:00.000Z');
  const { organization } = await buildOrganization(harness);
  await releaseWidget(harness.db, harness.store, {
    organizationId: organization._id,
    type: 'Poll',
    js: bytesOf(Buffer.from('export default { type: "Poll" };\n')),
    css: bytesOf(Buffer.from('.poll { color: teal }\n')),
  });
  const content = [{ type: 'Poll', props: { id: 'Poll-1', src: `media:${mediumId}` } }];
  const step = {
    ...{ id: '44444444-0000-4000-8000-000000000000', title: 'A step', order_index: 0 },
    content: { root: { props: {} }, content },
  };
  const section = { id: '55555555-0000-4000-8000-000000000000', title: 'A section', order_index: 0 };
  const { path } = await buildPackage({
    lessonId: '11111111-0000-4000-8000-000000000000',
    media: [{ id: mediumId, bytes: png(1) }],
    sections: [{ ...section, steps: [step] }],
  });
  const manifest = join(path, 'manifest.json');
  const written = JSON.parse(await readFile(manifest, 'utf8')) as object;
  await writeFile(manifest, JSON.stringify({ ...written, versionId }));
  const published = await buildVersion(harness, organization, path);
  await harness.db.lessonVersions.updateOne({ _id: versionId }, { publishedAt });
  const job = exportJobOf({ ...published, publishedAt });

  await build(job);
  await harness.db.exportRecords.updateOne(
    { exportKey: job.key },
    { exportedAt: publishedAt, completedAt: null },
  );
  const bytes = await build(job);
  expect({ key: job.key, size: bytes.length, sha256: digestOf(bytes).sha256 }).toEqual({
    key: 'xd1ba855fd1899ffeb5fb3f6444b936cab531b757',
    size: 4909,
    sha256: '453ab382a35fad93826520e028dc564bafd57a6c008ab74803929c35bc7fda38',
  });
});
