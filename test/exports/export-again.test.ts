import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportJobOf, incompleteKey } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../shared/packages/manifest.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { answer as status, file, startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { ask } from '../support/answers.ts';
import type { AskOptions } from '../support/answers.ts';
import { readArchive, readJson } from './read-archive.ts';

const picture = randomBytes(2_000);

let harness: Harness;
let origin: Origin;
let address: string;
let tenant: Awaited<ReturnType<typeof buildOrganization>>;

beforeAll(async () => {
  origin = await startOrigin();
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  address = await harness.startApi();
  await harness.startWorker();
  tenant = await buildOrganization(harness);
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});

/** Creates a published version with one picture from the origin. */
async function build(name: string): Promise<LessonVersion> {
  const { path } = await buildPackage({ media: [{ sourceUrl: origin.url(name) }] });
  return buildVersion(harness, tenant.organization, path);
}

const askFor = (version: LessonVersion, options: AskOptions & { from?: string } = {}) =>
  ask((options.from ?? address) + exportPath(version), { headers: tenant.headers, ...options });

async function manifestOf(body: Buffer): Promise<ExportManifest> {
  return readJson(await readArchive(body), 'a-lesson-v1/manifest.json');
}

test('a second request gets the same bytes without any outbound request', async () => {
  origin.serve('/second', picture, { contentType: 'image/png' });
  const version = await build('/second');
  const first = await askFor(version);
  const second = await askFor(version);
  expect(second.body.equals(first.body)).toBe(true);
  expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(origin.requests('/second')).toBe(1);
});

test('an evicted archive is rebuilt byte for byte', async () => {
  origin.serve('/evicted', picture, { contentType: 'image/png' });
  const version = await build('/evicted');
  const first = await askFor(version);
  await harness.store.archives.delete(exportJobOf(version).key);
  const second = await askFor(version);
  expect(second.status).toBe(200);
  expect(second.body.equals(first.body)).toBe(true);
});

test('two concurrent requests at two API processes build one archive', async () => {
  origin.serve('/concurrent', picture, { contentType: 'image/png' });
  const version = await build('/concurrent');
  const from = await harness.startApi();
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => askFor(version)),
    ...Array.from({ length: 10 }, () => askFor(version, { from })),
  ]);
  expect(new Set(answers.map((answer) => answer.headers.get('etag'))).size).toBe(1);
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  expect(origin.requests('/concurrent')).toBe(1);
});

test('HEAD returns the headers of GET, and builds the archive if needed', async () => {
  origin.serve('/head', picture, { contentType: 'image/png' });
  const version = await build('/head');
  const head = await askFor(version, { method: 'HEAD' });
  const get = await askFor(version);
  const ofTheRequest = ['date', 'x-request-id', 'connection', 'keep-alive', 'ratelimit'];
  const headersOf = ({ headers }: typeof get) =>
    [...headers].filter(([name]) => !ofTheRequest.includes(name));
  expect(head.status).toBe(200);
  expect(head.body).toHaveLength(0);
  expect(headersOf(head)).toEqual(headersOf(get));
  expect(get.body).toHaveLength(Number(head.headers.get('content-length')));
});

test('HEAD of an unknown version gets 404 without a body', async () => {
  const version = await build('/unknown');
  const head = await askFor({ ...version, _id: version.lessonId }, { method: 'HEAD' });
  expect(head.status).toBe(404);
  expect(head.body).toHaveLength(0);
});

test('an archive that lacks a file is served for a while, then the download is retried', async () => {
  origin.script('/repaired', status(404), file(picture, { contentType: 'image/png' }));
  const version = await build('/repaired');
  const brief = await harness.startApi({ DEGRADED_EXPORT_SECONDS: '0' });

  const first = await askFor(version);
  expect((await manifestOf(first.body)).failedMedia).toMatchObject([{ reason: 'not_found', status: 404 }]);
  // The archive stays unchanged within DEGRADED_EXPORT_SECONDS (60).
  expect((await askFor(version)).body.equals(first.body)).toBe(true);
  expect(origin.requests('/repaired')).toBe(1);

  const repaired = await askFor(version, { from: brief });
  expect((await manifestOf(repaired.body)).failedMedia).toEqual([]);
  const filesIn = async (body: Buffer) =>
    [...(await readArchive(body)).keys()].filter((name) => !name.endsWith('/'));
  expect((await filesIn(repaired.body)).length).toBeGreaterThan((await filesIn(first.body)).length);
  // From now on the API serves the complete archive, even where the incomplete one has not expired.
  expect((await askFor(version)).body.equals(repaired.body)).toBe(true);
});

test('every client that waits for a build gets its archive, even if it lacks a file and has already expired', async () => {
  const version = await build('/never-there');
  const brief = await harness.startApi({ DEGRADED_EXPORT_SECONDS: '0' });
  const answer = await askFor(version, { from: brief });
  expect(answer.status).toBe(200);
  expect((await manifestOf(answer.body)).failedMedia).toHaveLength(1);
});

test('an archive that lacks a file is never served as the complete one', async () => {
  const version = await build('/missing');
  await askFor(version);
  const { key } = exportJobOf(version);
  expect(await harness.store.archives.open(key)).toBeNull();
  const incomplete = await harness.store.archives.open(incompleteKey(key));
  await incomplete?.close();
  expect(incomplete).not.toBeNull();
  expect(await harness.db.exportRecords.countDocuments({ exportKey: key })).toBe(0);
});
