import { randomBytes, randomUUID } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createImport } from '../../api/imports/create-import.ts';
import { createUploads } from '../../shared/imports/create-uploads.ts';
import { sumOpenImports } from '../../shared/models/lesson-import.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import { sumStoredBytes } from '../../shared/models/stored-bytes.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { temporaryFolder } from '../support/folders.ts';
import { waitFor } from '../support/wait-for.ts';
import { lecternHere } from '../cli/command-line.ts';
import { damagedArchive, picture } from '../packages/import-support.ts';
import { baseParts, writeArchive, zipBytes, zipFolder } from '../packages/zip-builder.ts';
import { startBreakingProxy } from './breaking-proxy.ts';
import { begin, ended, head, send, statusOf, upload, uploadWithClient } from './uploads.ts';
import type { ImportStatus } from './uploads.ts';

const api = useApi({}, { worker: true });

test('a complete upload is imported and published, as the command does', async () => {
  const built = await buildPackage({ media: [picture(1)] });
  const id = await upload(api, await zipFolder(built.path), { filename: 'tides.zip', publish: 'true' });
  const status = await ended(api, id);
  expect(status).toMatchObject({ status: 'imported', error: null });
  expect(status.report).toMatchObject({
    ...{ lessonId: built.lessonId, versionId: built.versionId, versionNumber: 1, slug: 'a-lesson' },
    ...{ published: true, media: 1, widgets: 0, warnings: [] },
    preview: { url: expect.stringContaining(`${api.url}/embed/${built.lessonId}?token=`) as string },
  });
  // A client that missed the last response learns that nothing is left to send.
  expect((await head(api, id)).headers.get('upload-offset')).toBe(String(status.upload.size));
  await waitFor(
    'the upload to be deleted',
    async () => (await api.db.lessonImports.findById(id))?.hasUpload === false,
  );
});

test('a package arrives intact over a connection that breaks three times', async () => {
  const bytes = Buffer.concat([picture(1).bytes, randomBytes(2_000_000)]);
  const path = await zipFolder((await buildPackage({ media: [{ bytes }] })).path);
  const proxy = await startBreakingProxy(api.url, { everyBytes: 400_000, times: 3 });
  onTestFinished(() => proxy.close());
  const id = await uploadWithClient({ url: proxy.url, headers: api.headers }, path);
  expect(proxy.breaks()).toBe(3);
  const { report } = await ended(api, id);
  const medium = await api.db.media.findOne({ versionId: report?.versionId ?? '' });
  expect(medium?.asset?.sha256).toBe(digestOf(bytes).sha256);
});

const hostile: Record<string, () => Promise<string>> = {
  'that is a ZIP bomb': () =>
    writeArchive(
      zipBytes([...baseParts, { name: 'media/zeros.bin', content: Buffer.alloc(80 * 1024 ** 2) }]),
    ),
  'with a damaged file': async () =>
    damagedArchive(
      (await buildPackage({ media: [{ ...picture(1), id: mediaId }] })).path,
      `media/${mediaId}.png`,
    ),
  "with another organization's lesson": async () => {
    const built = await buildPackage();
    const { headers } = await buildOrganization(api);
    await ended(
      { url: api.url, headers },
      await upload({ url: api.url, headers }, await zipFolder(built.path)),
    );
    return zipFolder(built.path);
  },
};
const mediaId = randomUUID();

test.each(Object.entries(hostile))("a package %s is rejected with the command's text", async (_, pack) => {
  const path = await pack();
  const { slug } = api.organization;
  const command = await lecternHere(api.environment, 'lesson', 'import', path, '--org', slug);
  expect(command.code).toBe(1);
  const { status, error, report } = await ended(api, await upload(api, path, { filename: basename(path) }));
  expect({ status, report }).toEqual({ status: 'failed', report: null });
  // The command names the path that it was given.
  expect(`lectern: ${error?.message ?? ''}\n`.replace(basename(path), path)).toBe(command.stderr);
});

test('a package that cannot be published is imported as a draft, and the import says why', async () => {
  const { path, lessonId } = await buildPackage({ sections: [] });
  const { status, error } = await ended(api, await upload(api, await zipFolder(path), { publish: 'true' }));
  expect({ status, error }).toEqual({
    status: 'failed',
    error: {
      code: 'INVALID_CONTENT',
      message:
        'The lesson cannot be played yet: The lesson has no sections. Correct it, or publish it anyway with --force.',
    },
  });
  expect((await api.db.lessonVersions.find({ lessonId })).map((version) => version.status)).toEqual([
    'draft',
  ]);
});

test('an event stream follows an import to its end', async () => {
  const path = await zipFolder((await buildPackage()).path);
  const begun = jsonOf(await begin(api, 10)) as ImportStatus;
  const events = async (id: string) => {
    const answer = await ask(`${api.url}/api/lessons/imports/${id}`, {
      headers: { ...api.headers, accept: 'text/event-stream' },
    });
    return [...answer.body.toString().matchAll(/^data: (.*)$/gm)].map(
      ([, data = '']) => (JSON.parse(data) as ImportStatus).status,
    );
  };
  expect((await events(await upload(api, path))).at(-1)).toBe('imported');
  const following = events(begun.id);
  expect((await send(api, begun.id, new Uint8Array(10))).status).toBe(204);
  expect((await following).at(-1)).toBe('failed');
});

test('credentials, plan, size and options are checked before anything is stored', async () => {
  const before = await api.db.lessonImports.countDocuments();
  expectError(
    await begin({ url: api.url, headers: { authorization: 'Bearer a.b' } }, 10),
    401,
    'Authentication failed',
  );
  const solo = await buildOrganization(api, { plan: 'solo' });
  expectError(await begin({ url: api.url, ...solo }, 10), 403, 'Import is not available on your plan');
  expectError(await begin(api, 9 * 1024 ** 3), 413, 'A package must be at most 8589934592 bytes');
  expectError(await begin(api, 10, {}, { 'tus-resumable': '0.2.2' }), 412, 'Tus-Resumable must be 1.0.0');
  const faults: [Record<string, string>, string][] = [
    [{ publish: 'yes' }, 'publish must be true or false'],
    [{ force: 'true' }, 'force requires publish'],
    [{ filename: '../../x.zip' }, 'filename must be a name of 1 to 200 characters, without a path'],
    [{ mediaBaseUrl: 'file:///etc' }, 'mediaBaseUrl must be an http or https URL'],
    [
      { filler: 'x'.repeat(4000) },
      'Upload-Metadata must be at most 4096 bytes: keys with values in Base64, separated by commas',
    ],
  ];
  for (const [metadata, text] of faults) expectError(await begin(api, 10, metadata), 422, text);
  // The protocol allows keys without a value.
  const unnamed = await begin(api, 10, {}, { 'upload-metadata': 'filename' });
  expectError(unnamed, 422, 'filename must be a name of 1 to 200 characters, without a path');
  expectError(await begin(api, 0), 422, 'Upload-Length must be the size of the package in bytes');
  expect(await api.db.lessonImports.countDocuments()).toBe(before);
});

test('bytes are accepted once, at their offset, and no more than declared', async () => {
  const { id } = jsonOf(await begin(api, 10)) as ImportStatus;
  expect((await send(api, id, new Uint8Array(4))).headers.get('upload-offset')).toBe('4');
  expectError(await send(api, id, new Uint8Array(4)), 409, 'Upload-Offset conflict');
  expect((await send(api, id, new Uint8Array(7), 4)).status).toBe(413);
  expect((await head(api, id)).headers.get('upload-offset')).toBe('4');
  expect((await statusOf(api, id)).upload).toEqual({ size: 10, offset: 4 });
  expect((await send(api, id, new Uint8Array(6), 4)).status).toBe(204);
  expectError(await send(api, id, new Uint8Array(0), 10), 409, 'The upload is complete');
});

test('an organization has a limited number of unfinished imports; a canceled one makes room', async () => {
  const { headers } = await buildOrganization(api);
  const tenant = { url: api.url, headers };
  const begun = await Promise.all(Array.from({ length: 10 }, () => begin(tenant, 10)));
  expect(begun.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  const refused = await begin(tenant, 10);
  expectError(refused, 429, 'Your organization has 10 unfinished imports; try again in 60 seconds');
  const { id } = jsonOf(begun[0] as (typeof begun)[0]) as ImportStatus;
  const url = `${api.url}/api/lessons/imports/${id}`;
  // Of another organization.
  expectError(await ask(url, { method: 'DELETE', headers: api.headers }), 404, 'Import not found');
  expect((await ask(url, { method: 'DELETE', headers })).status).toBe(204);
  expect((await head(tenant, id)).status).toBe(404);
  expect((await send(tenant, id, new Uint8Array(10))).status).toBe(404);
  expect((await statusOf(tenant, id)).status).toBe('canceled');
  expect((await begin(tenant, 10)).status).toBe(201);
});

test('an organization stores no more than its limit, counting each file once', async () => {
  const { headers, organization } = await buildOrganization(api);
  const tenant = { url: api.url, headers };
  const { slug, _id } = organization;
  const built = await buildPackage({ media: [{ bytes: randomBytes(50_000) }] });
  const path = await zipFolder(built.path);
  for (let count = 0; count < 2; count += 1)
    expect(await ended(tenant, await upload(tenant, path))).toMatchObject({ status: 'imported' });
  const stored = await sumStoredBytes(api.db, _id);
  expect(stored).toBeGreaterThan(50_000);
  expect(stored).toBeLessThan(100_000);
  // Another version needs room for its text alone, and its package may be larger than the room.
  const limit = stored + 20_000;
  await changeOrganization(api.db, { slug }, { maxStoredBytes: limit });
  expect(await ended(tenant, await upload(tenant, path))).toMatchObject({ status: 'imported' });
  const both = await sumStoredBytes(api.db, _id);
  expect(both).toBeLessThan(limit);
  // A package can be larger than its ZIP.
  const text = Buffer.from(`WEBVTT\n\nNOTE ${randomBytes(200_000).toString('hex')}\n`);
  const medium = { bytes: text, mimeType: 'text/vtt', extension: 'vtt' };
  const large = await zipFolder((await buildPackage({ media: [medium] })).path, undefined, 8);
  await changeOrganization(api.db, { slug }, { maxStoredBytes: both + (await stat(large)).size });
  const { status, error } = await ended(tenant, await upload(tenant, large));
  expect([status, error?.code]).toEqual(['failed', 'PAYLOAD_TOO_LARGE']);
  expect(await sumStoredBytes(api.db, _id)).toBe(both);
  await changeOrganization(api.db, { slug }, { maxStoredBytes: both });
  expectError(
    await begin(tenant, 1),
    413,
    `Your organization may store ${both} bytes and stores ${both}: there is no room for 1 more. Ask the operator for a higher limit.`,
  );
  const url = await api.startApi({ ORGANIZATION_MAX_BYTES: String(stored) });
  await changeOrganization(api.db, { slug }, { maxStoredBytes: null });
  expect((await begin({ ...tenant, url }, 1)).status).toBe(413);
  await changeOrganization(api.db, { slug }, { maxStoredBytes: 0 });
  expect((await begin({ ...tenant, url }, 1)).status).toBe(201);
});

test('the packages of unfinished imports are limited together', async () => {
  const { headers } = await buildOrganization(api);
  const tenant = { url: api.url, headers };
  const url = await api.startApi({ EXPORT_MAX_BYTES: '1000' });
  for (const size of [1000, 1000]) expect((await begin({ ...tenant, url }, size)).status).toBe(201);
  const text = 'The packages of unfinished imports are over 2000 bytes together; try again in 60 seconds';
  expectError(await begin({ ...tenant, url }, 1), 429, text);
});

test('an organization that begins uploads and sends nothing leaves room on the disk to another one', async () => {
  const free = 2 * (await sumOpenImports(api.db)).bytes + 1000;
  const uploads = { ...(await createUploads(api.config, api.db)), freeBytes: () => Promise.resolve(free) };
  const deps = { db: api.db, uploads, config: api.config };
  const [greedy, other] = [await buildOrganization(api), await buildOrganization(api)];
  const options = {
    asNew: false,
    asMedia: false,
    publish: false,
    force: false,
    mediaBaseUrl: null,
    questionsPerStep: null,
    module: null,
  };
  const creation = { size: 100, metadata: '', fileName: 'a.zip', options };
  const beginOne = ({ organization }: typeof greedy) =>
    createImport(deps, organization, creation, randomUUID());
  await beginOne(greedy);
  await beginOne(greedy);
  await expect(beginOne(greedy)).rejects.toThrow('the store is full');
  await beginOne(other);
});

test('a file in another format is converted, and the import and its version have the loss report', async () => {
  const path = join(await temporaryFolder(), 'tides.gift');
  await writeFile(path, 'Spring or neap? {=spring =%50%high}\n\nThe Sun pulls, too. {T}\n\nWhy? {}\n');
  const id = await upload(api, path, { filename: 'tides.gift', publish: 'true', questionsPerStep: '2' });
  const { report } = await ended(api, id);
  expect(report).toMatchObject({
    ...{ slug: 'tides', published: true, warnings: [] },
    conversion: {
      ...{ format: 'gift', converted: 2, partial: 1, kept: 0, dropped: 0 },
      entries: [
        {
          path: 'tides.gift:1',
          kind: 'shortanswer',
          title: 'Spring or neap?',
          result: 'partial',
          reason: 'answers no longer earn 50 %',
          stepId: expect.any(String) as string,
          blockId: expect.any(String) as string,
        },
        { path: 'tides.gift:3', result: 'converted', reason: null },
        { path: 'tides.gift:5', result: 'converted', reason: null },
      ],
    },
  });
  const version = await api.db.lessonVersions.findById(report?.versionId ?? '');
  expect(version).toMatchObject({ totalSteps: 2 });
  // The same file is the next version of the same lesson.
  const again = await ended(api, await upload(api, path, { filename: 'tides.gift' }));
  expect(again.report).toMatchObject({ lessonId: report?.lessonId, versionNumber: 2 });
});
