import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { findExportRecord, recordSignedUrls } from '../../shared/models/export-record.ts';
import type { ExportRecord } from '../../shared/models/export-record.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { read } from '../storage/stores.ts';
import { buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { answer } from '../support/origin.ts';
import { downloadExport } from './exports.ts';
import { png } from './pictures.ts';

let lab: ExportLab;
let endWorker: () => Promise<void>;
beforeAll(async () => {
  lab = await startExportLab();
  endWorker = await lab.harness.startWorker();
});
afterAll(() => lab.close());

/** The URL of the picture for one test; no other test requests it. */
let path: string;
beforeEach(() => {
  path = `/${randomUUID()}.png`;
});

/** Creates a lesson with an uploaded picture and the one at that URL. */
async function build(): Promise<LessonVersion> {
  const built = await buildPackage({ media: [{ bytes: png(20) }, { sourceUrl: lab.origin.url(path) }] });
  return buildVersion(lab.harness, lab.organization, built.path);
}

const download = (version: LessonVersion) => downloadExport(lab.api, version, lab.headers);
const evict = (version: LessonVersion) => lab.harness.store.archives.delete(exportJobOf(version).key);
const forget = (picture: Buffer) => lab.harness.store.cache.delete(digestOf(picture).sha256);

async function recordOf(version: LessonVersion): Promise<ExportRecord> {
  const record = await findExportRecord(lab.harness.db, exportJobOf(version).key);
  if (record === null) throw new Error('There is no record');
  return record;
}

test('the record of a complete archive names its size, its digest and its files in order, and the store has them all', async () => {
  lab.origin.serve(path, png(1));
  const version = await build();
  const { bytes, files, manifest } = await download(version);
  const { archive, entries, exportedAt, signedUntil } = await recordOf(version);
  expect(archive).toEqual({ size: bytes.length, sha256: digestOf(bytes).sha256 });
  expect(exportedAt.toISOString()).toBe(manifest.exportedAt);
  expect(signedUntil).toBeNull();
  expect(entries.map((entry) => entry.path)).toEqual([...files.keys()]);
  for (const { path: name, area, ...digest } of entries) {
    const file = await lab.harness.store[area].open(digest);
    expect((await read(file)).equals(files.get(name) ?? Buffer.alloc(0)), name).toBe(true);
    await file?.close();
    expect(digest).toEqual(digestOf(files.get(name) ?? Buffer.alloc(0)));
  }
});

test('another worker rebuilds an evicted archive byte for byte without any outbound request', async () => {
  lab.origin.serve(path, png(2));
  const version = await build();
  const first = await download(version);
  const record = await recordOf(version);
  await evict(version);
  await endWorker();
  endWorker = await lab.harness.startWorker();

  expect((await download(version)).bytes.equals(first.bytes)).toBe(true);
  expect(lab.origin.requests(path)).toBe(1);
  expect(await recordOf(version)).toEqual(record);
});

test('an evicted download is fetched once more, and the archive is rebuilt byte for byte', async () => {
  lab.origin.serve(path, png(3));
  const version = await build();
  const first = await download(version);
  await evict(version);
  await forget(png(3));
  expect((await download(version)).bytes.equals(first.bytes)).toBe(true);
  expect(lab.origin.requests(path)).toBe(2);
});

test('a changed file makes a new record, and no download continues with different bytes', async () => {
  lab.origin.serve(path, png(4), { etag: '"old"' });
  const version = await build();
  const first = await download(version);
  const old = await recordOf(version);
  await evict(version);
  await forget(png(4));
  lab.origin.serve(path, png(5), { etag: '"new"' });

  const rest = await fetch(`${lab.api}${exportPath(version)}`, {
    headers: { ...lab.headers, range: 'bytes=1000-', 'if-range': `"${old.archive.sha256}"` },
  });
  const changed = Buffer.from(await rest.arrayBuffer());
  const record = await recordOf(version);
  expect(rest.status).toBe(200);
  expect(rest.headers.get('etag')).toBe(`"${record.archive.sha256}"`);
  expect(digestOf(changed).sha256).toBe(record.archive.sha256);
  expect(record.archive.sha256).not.toBe(old.archive.sha256);
  expect(record.exportedAt > old.exportedAt).toBe(true);
  expect((await download(version)).manifest.publishedAt).toBe(first.manifest.publishedAt);
  expect(await lab.harness.db.exportRecords.countDocuments({ exportKey: record.exportKey })).toBe(1);
});

test('a record that signed URLs still reference outlives its replacement', async () => {
  lab.origin.serve(path, png(6));
  const version = await build();
  await download(version);
  const { exportKey, contentDigest, archive } = await recordOf(version);
  const until = new Date(Date.now() + 3_600_000);
  const signed = { exportKeys: [exportKey], sha256: archive.sha256, organizationId: version.organizationId };
  expect(await recordSignedUrls(lab.harness.db, signed, until)).toMatchObject({
    contentDigest,
    signedUntil: until,
  });
  await evict(version);
  await forget(png(6));
  lab.origin.serve(path, png(7));
  await download(version);

  expect((await recordOf(version)).contentDigest).not.toBe(contentDigest);
  expect(await lab.harness.db.exportRecords.findOne({ exportKey, contentDigest }).lean()).toMatchObject({
    signedUntil: until,
  });
});

test("signing URLs again for a shorter time does not shorten the record's life", async () => {
  lab.origin.serve(path, png(8));
  const version = await build();
  await download(version);
  const { exportKey, archive } = await recordOf(version);
  const until = new Date(Date.now() + 3_600_000);
  const signed = { exportKeys: [exportKey], sha256: archive.sha256, organizationId: version.organizationId };
  await recordSignedUrls(lab.harness.db, signed, until);
  await recordSignedUrls(lab.harness.db, signed, new Date());
  expect((await recordOf(version)).signedUntil).toEqual(until);
});

test('an archive that lacks a file has no record', async () => {
  lab.origin.script(path, answer(404));
  const version = await build();
  await download(version);
  const { key } = exportJobOf(version);
  expect(await findExportRecord(lab.harness.db, key)).toBeNull();
});

test('an archive that differs from its record is never published; the retry uses a new archive time', async () => {
  lab.origin.serve(path, png(9));
  const version = await build();
  await download(version);
  const before = await recordOf(version);
  await evict(version);
  const archive = { ...before.archive, sha256: '0'.repeat(64) };
  await lab.harness.db.exportRecords.updateOne({ exportKey: before.exportKey }, { archive });

  const { bytes } = await download(version);
  const record = await recordOf(version);
  expect(record.exportedAt > before.exportedAt).toBe(true);
  expect(record.archive.sha256).toBe(digestOf(bytes).sha256);
});
