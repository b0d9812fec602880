import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { noCoordination } from '../../shared/coordination/coordination.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { runExport } from '../../worker/exports/job.ts';
import { read } from '../storage/stores.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { png } from './pictures.ts';

const time = new Date('2026-01-15T09:00:00.000Z');
const versionId = '22222222-0000-4000-8000-000000000000';
const mediumId = '33333333-0000-4000-8000-000000000000';
const step = {
  id: '44444444-0000-4000-8000-000000000000',
  title: 'A step',
  order_index: 0,
  content: {
    root: { props: {} },
    content: [{ type: 'Poll', props: { id: 'Poll-1', src: `media:${mediumId}` } }],
  },
};

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

/** Creates a fully deterministic version without any file from a build of Lectern. */
async function fixedVersion(): Promise<LessonVersion> {
  const { organization } = await buildOrganization(harness);
  await releaseWidget(harness.db, harness.store, {
    organizationId: organization._id,
    type: 'Poll',
    js: bytesOf(Buffer.from('export default { type: "Poll" };\n')),
    css: bytesOf(Buffer.from('.poll { color: teal }\n')),
  });
  const { path } = await buildPackage({
    lessonId: '11111111-0000-4000-8000-000000000000',
    media: [{ id: mediumId, bytes: png(1) }],
    sections: [
      { id: '55555555-0000-4000-8000-000000000000', title: 'A section', order_index: 0, steps: [step] },
    ],
  });
  const manifest = join(path, 'manifest.json');
  const written = JSON.parse(await readFile(manifest, 'utf8')) as object;
  await writeFile(manifest, JSON.stringify({ ...written, versionId }));
  const version = await buildVersion(harness, organization, path);
  await harness.db.lessonVersions.updateOne({ _id: versionId }, { publishedAt: time });
  return { ...version, publishedAt: time };
}

async function build(version: LessonVersion): Promise<Buffer> {
  const { db, store, config } = harness;
  const downloader = createDownloader(config.download);
  const job = exportJobOf(version);
  await store.archives.delete(job.key);
  try {
    await runExport({ db, store, downloader, coordination: noCoordination, config }, job, {
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
  } finally {
    downloader.close();
  }
  const archive = await store.archives.open(job.key);
  const bytes = await read(archive);
  await archive?.close();
  return bytes;
}

test('without the player, an archive keeps the key and bytes of earlier releases', async () => {
  const version = await fixedVersion();
  await build(version);
  await harness.db.exportRecords.updateOne({}, { exportedAt: time, completedAt: null });
  const bytes = await build(version);
  expect({
    key: exportJobOf(version).key,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }).toEqual({
    key: 'xd1ba855fd1899ffeb5fb3f6444b936cab531b757',
    size: 4909,
    sha256: '453ab382a35fad93826520e028dc564bafd57a6c008ab74803929c35bc7fda38',
  });
});
