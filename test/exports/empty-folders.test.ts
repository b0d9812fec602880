import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { expectSameFiles } from './manifests.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { findExportRecord, saveExportRecord } from '../../shared/models/export-record.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { digestOf, bytesOf } from '../../shared/storage/digest.ts';
import { ArchiveWriter } from '../../worker/exports/archive-writer.ts';
import { contentDigest } from '../../worker/exports/record.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { downloadExport } from './exports.ts';
import { png } from './pictures.ts';

let lab: ExportLab;
beforeAll(async () => {
  lab = await startExportLab();
  await lab.harness.startWorker();
});
afterAll(() => lab.close());

const download = (version: LessonVersion) => downloadExport(lab.api, version, lab.headers);

test('an archive without media or widgets has empty folders for them, and a rebuild gives the same bytes', async () => {
  const noWidgets = await buildPackage({ blocks: () => [{ type: 'Unknown', props: { id: 'a' } }] });
  const bare = await download(await buildVersion(lab.harness, lab.organization, noWidgets.path));
  expect(bare.folders).toEqual(['media/', 'widgets/']);

  const version = await buildVersion(lab.harness, lab.organization, (await buildPackage()).path);
  const first = await download(version);
  expect(first.folders).toEqual(['media/']);
  await lab.harness.store.archives.delete(exportJobOf(version).key);
  expect((await download(version)).bytes.equals(first.bytes)).toBe(true);
  await expectSameFiles(lab, version);
  const again = await expectSameFiles({ ...lab, query: '?include=player' }, version);
  expect(again.archive.folders).toEqual(['media/']);

  const full = await lab.build(png(1));
  expect((await download(full)).folders).toEqual([]);
});

test('an archive first built without entries for empty folders is rebuilt without them', async () => {
  const { db, store } = lab.harness;
  const version = await buildVersion(lab.harness, lab.organization, (await buildPackage()).path);
  const { key } = exportJobOf(version);
  const { files, folder } = await download(version);
  const record = await findExportRecord(db, key);
  if (record === null) throw new Error('There is no record');
  // In the format of the preceding release.
  const entries = record.entries.filter(({ path }) => path !== 'media/');
  const parts: Buffer[] = [];
  const sink = {
    write: (chunks: readonly Uint8Array[]) =>
      Promise.resolve(void parts.push(...chunks.map((chunk) => Buffer.from(chunk)))),
  };
  const writer = new ArchiveWriter(sink, version.publishedAt ?? new Date(), folder);
  for (const [path, bytes] of files) await writer.add(path, digestOf(bytes), bytesOf(bytes));
  const archive = await writer.finish();
  const digest = contentDigest(entries.slice(0, -1));
  const { exportedAt } = record;
  await saveExportRecord(db, { exportKey: key, contentDigest: digest, exportedAt, archive, entries });
  await store.archives.delete(key);

  const again = await download(version);
  expect(again.folders).toEqual([]);
  expect(again.bytes.equals(Buffer.concat(parts))).toBe(true);
  await expectSameFiles(lab, version);
});
