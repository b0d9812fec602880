import { randomUUID } from 'node:crypto';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { exportJobOf, incompleteKey } from '../../shared/exports/jobs.ts';
import { limitRecords, removeUnusedRecords } from '../../shared/exports/unused-records.ts';
import { findExportRecord, saveExportRecord } from '../../shared/models/export-record.ts';
import type { ExportRecord } from '../../shared/models/export-record.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { answer, file } from '../support/origin.ts';
import { useExportLab } from './lab.ts';
import { takeApart } from './exports.ts';
import { viewQueue } from './open-queue.ts';
import { png } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

/** The URL of the picture for one test; no other test requests it. */
let path: string;
beforeEach(() => {
  path = `/${randomUUID()}.png`;
});

/** Publishes a lesson with an uploaded picture and the one at that URL. */
const build = () => lab.publish({ media: [{ bytes: png(20) }, { sourceUrl: lab.origin.url(path) }] });
const forget = (picture: Buffer) => lab.harness.store.cache.delete(digestOf(picture).sha256);

async function recordOf(version: LessonVersion): Promise<ExportRecord> {
  const record = await findExportRecord(lab.harness.db, exportJobOf(version).key);
  if (record === null) throw new Error('There is no record');
  return record;
}

test('the record of a complete archive names its size, its digest and its files in order', async () => {
  lab.origin.serve(path, png(1));
  const version = await build();
  const { bytes, files, manifest } = await lab.download(version);
  const { archive, entries, exportedAt } = await recordOf(version);
  expect(archive).toEqual({ size: bytes.length, sha256: digestOf(bytes).sha256 });
  expect(exportedAt.toISOString()).toBe(manifest.exportedAt);
  expect(entries.map((entry) => entry.path)).toEqual([...files.keys()]);
  for (const { path: name, area: _area, ...digest } of entries)
    expect(digest).toEqual(digestOf(files.get(name) ?? Buffer.alloc(0)));
});

test('a second request, and a rebuild of an evicted archive by another worker, give the same bytes without any outbound request', async () => {
  lab.origin.serve(path, png(2));
  const version = await build();
  const first = await lab.get(version);
  const record = await recordOf(version);
  const second = await lab.get(version);
  expect(second.body.equals(first.body)).toBe(true);
  expect(second.headers.get('etag')).toBe(first.headers.get('etag'));

  await lab.evict(version);
  const endWorker = await lab.harness.startWorker({ WORKER_CONCURRENCY: '1' });
  onTestFinished(endWorker);
  expect((await lab.get(version)).body.equals(first.body)).toBe(true);
  expect(lab.origin.requests(path)).toBe(1);
  expect(await recordOf(version)).toEqual(record);
});

test('a changed file makes a new record, and no download continues with different bytes', async () => {
  lab.origin.serve(path, png(4), { etag: '"old"' });
  const version = await build();
  const first = await lab.download(version);
  const old = await recordOf(version);
  await lab.evict(version);
  await forget(png(4));
  lab.origin.serve(path, png(5), { etag: '"new"' });

  const condition = { range: 'bytes=1000-', 'if-range': `"${old.archive.sha256}"` };
  const { status, headers, body } = await lab.get(version, { headers: condition });
  const record = await recordOf(version);
  expect([status, headers.get('etag')]).toEqual([200, `"${record.archive.sha256}"`]);
  expect(digestOf(body).sha256).toBe(record.archive.sha256);
  expect(record.archive.sha256).not.toBe(old.archive.sha256);
  expect(record.exportedAt > old.exportedAt).toBe(true);
  expect((await lab.download(version)).manifest.publishedAt).toBe(first.manifest.publishedAt);
  expect(await lab.harness.db.exportRecords.countDocuments({ exportKey: record.exportKey })).toBe(1);
});

test('an archive that differs from its record is never published; the retry uses a new archive time', async () => {
  lab.origin.serve(path, png(9));
  const version = await build();
  await lab.download(version);
  const before = await recordOf(version);
  await lab.evict(version);
  const archive = { ...before.archive, sha256: '0'.repeat(64) };
  await lab.harness.db.exportRecords.updateOne({ exportKey: before.exportKey }, { archive });

  const { bytes } = await lab.download(version);
  const record = await recordOf(version);
  expect(record.exportedAt > before.exportedAt).toBe(true);
  expect(record.archive.sha256).toBe(digestOf(bytes).sha256);
});

test('fifty concurrent requests over two APIs and two workers cause one build and get the same bytes', async () => {
  lab.origin.serve(path, png(10));
  const version = await build();
  const other = await lab.harness.startApi();
  onTestFinished(await lab.harness.startWorker());
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => lab.get(version, { api: index % 2 === 0 ? lab.api : other })),
  );
  const [first] = answers;
  for (const { status, body, headers } of answers) {
    expect([status, headers.get('etag')]).toEqual([200, first?.headers.get('etag')]);
    expect(body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
  }
  expect(lab.origin.requests(path)).toBe(1);
  const queue = viewQueue(lab.harness);
  expect(await queue.starts(version)).toBe(1);
});

test('an archive that lacks a file is served for a while, never as the complete one, then the download is retried', async () => {
  lab.origin.script(path, answer(404), file(png(12)));
  const version = await build();
  const brief = await lab.harness.startApi({ DEGRADED_EXPORT_SECONDS: '0' });

  const first = await lab.download(version);
  expect(first.manifest.failedMedia).toMatchObject([{ reason: 'not_found', status: 404 }]);
  // The archive stays unchanged within DEGRADED_EXPORT_SECONDS (60).
  expect((await lab.download(version)).bytes.equals(first.bytes)).toBe(true);
  expect(lab.origin.requests(path)).toBe(1);
  const { key } = exportJobOf(version);
  expect(await lab.harness.store.archives.open(key)).toBeNull();
  const incomplete = await lab.harness.store.archives.open(incompleteKey(key));
  await incomplete?.close();
  expect(incomplete).not.toBeNull();
  expect(await findExportRecord(lab.harness.db, key)).toBeNull();

  const repaired = await takeApart((await lab.get(version, { api: brief })).body);
  expect(repaired.manifest.failedMedia).toEqual([]);
  expect(repaired.files.size).toBe(first.files.size + 1);
  // From now on the API serves the complete archive, even where the incomplete one has not expired.
  expect((await lab.download(version)).bytes.equals(repaired.bytes)).toBe(true);
});

const dayMs = 24 * 3600_000;

/** Writes a record as after a build, which was last used some days ago. */
async function addRecord(organizationId: string, { daysAgo = 0, isStored = false } = {}) {
  const { db, store } = lab.harness;
  const exportKey = `x${randomUUID()}`;
  const archive = { size: 1, sha256: digestOf(Buffer.from(exportKey)).sha256 };
  const built = { exportKey, contentDigest: 'd', exportedAt: new Date(), archive, entries: [] };
  await saveExportRecord(db, { ...built, organizationId });
  const usedAt = new Date(Date.now() - daysAgo * dayMs);
  await db.exportRecords.updateOne({ exportKey }, { usedAt });
  if (isStored) {
    const draft = await store.archives.create();
    await draft.write([Buffer.alloc(1)]);
    await draft.publish(exportKey, archive.sha256);
    await draft.discard();
  }
  return exportKey;
}

async function keysOf(organizationId: string): Promise<string[]> {
  const found = await lab.harness.db.exportRecords.find({ organizationId }).sort({ usedAt: 1 }).lean();
  return found.map(({ exportKey }) => exportKey);
}

test('a record is removed half a year after the last build of its archive, unless the archive is stored', async () => {
  const organizationId = randomUUID();
  await addRecord(organizationId, { daysAgo: 181 });
  const kept = [
    await addRecord(organizationId, { daysAgo: 179 }),
    await addRecord(organizationId, { daysAgo: 181, isStored: true }),
  ];
  for (let sweep = 0; sweep < 2; sweep += 1) {
    const removed = await removeUnusedRecords(lab.harness, new AbortController().signal);
    expect(removed).toBe(sweep === 0 ? 1 : 0);
    expect((await keysOf(organizationId)).toSorted()).toEqual(kept.toSorted());
  }
});

test('however many exports an organization requests, its records stay below a limit: the longest unused go, those of stored archives stay', async () => {
  const { db } = lab.harness;
  const organizationId = randomUUID();
  const stored = await addRecord(organizationId, { daysAgo: 9, isStored: true });
  const others = await addRecord(randomUUID(), { daysAgo: 9 });
  const limit = 10 * 4096;
  let last = '';
  for (let round = 0; round < 30; round += 1) {
    last = await addRecord(organizationId);
    await limitRecords(lab.harness, organizationId, limit);
    expect(await db.exportRecords.countDocuments({ organizationId })).toBeLessThanOrEqual(11);
  }
  expect(await keysOf(organizationId)).toEqual(expect.arrayContaining([stored, last]));
  expect(await findExportRecord(db, others)).not.toBeNull();
});
