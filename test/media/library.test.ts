import { randomBytes, randomUUID } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { libraryFileId } from '../../shared/models/library-file.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { begin, ended, send as sendBytes } from '../imports/uploads.ts';
import type { ImportStatus } from '../imports/uploads.ts';

const api = useApi({}, { worker: true });

interface File {
  id: string;
  kind: string;
  name: string;
  mimeType: string;
  alt: string;
  url: string;
  uses: {
    lessons: { lessonId: string; version: { places: unknown[] } | null; draftSteps: string[] | null }[];
  };
}

function send(path: string, method = 'GET', json?: object, headers = api.headers) {
  return ask(`${api.url}${path}`, {
    method,
    headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
    ...(json && { body: JSON.stringify(json) }),
  });
}

async function uploaded(
  filename: string,
  bytes: Uint8Array,
): Promise<ImportStatus & { mediaFileId: string }> {
  const begun = jsonOf(await begin(api, bytes.length, { filename, asMedia: 'true' })) as { id: string };
  expect((await sendBytes(api, begun.id, new Uint8Array(bytes))).status).toBe(204);
  return (await ended(api, begun.id)) as ImportStatus & { mediaFileId: string };
}

function png(width: number, height: number, text = randomUUID()): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc(2));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const texts = Buffer.from(`Comment\0${text}`);
  return Buffer.concat([
    ...[signature, chunk('IHDR', header), chunk('tEXt', texts)],
    ...[chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))],
  ]);
}

const imageStep = (id: string, mediaId: string) => ({
  ...{ id, title: `Step ${id}` },
  content: {
    content: [{ type: 'Image', props: { id: `picture-${id}`, src: `media:${mediaId}`, alt: 'A harbour' } }],
    root: { props: {} },
  },
});

test('an uploaded picture is used in a draft, replaced there, published, and then stays', async () => {
  const bytes = png(40, 30);
  const first = await uploaded('harbour.png', bytes);
  expect(first.status).toBe('imported');
  // The same bytes are one file.
  expect((await uploaded('again.png', bytes)).mediaFileId).toBe(first.mediaFileId);
  const other = (await uploaded('quay.png', png(50, 30))).mediaFileId;
  const path = `/api/media/${first.mediaFileId}`;
  const described = await send(path, 'PATCH', { alt: 'Ein Häfen', credit: 'Ada', license: 'CC BY 4.0' });
  expect(jsonOf(described)).toMatchObject({ name: 'harbour.png', kind: 'image', width: 40, height: 30 });
  const found = jsonOf(await send('/api/media?kind=image&text=HAFEN')) as { files: File[] };
  expect(found.files.map(({ id }) => id)).toEqual([first.mediaFileId]);

  const built = await buildPackage({ sections: [{ id: 's', title: 'S', steps: [imageStep('a', other)] }] });
  const { lessonId } = await buildVersion(api, api.organization, built.path);
  const draft = `/api/lessons/${lessonId}/draft`;
  expect((await send(draft, 'POST', {})).status).toBe(201);
  const { content } = imageStep('a', first.mediaFileId);
  expect((await send(`${draft}/steps/a`, 'PUT', { revision: 1, content })).status).toBe(200);
  const used = jsonOf(await send(path)) as File;
  expect(used.uses).toMatchObject({
    isComplete: true,
    lessons: [{ lessonId, version: null, draftSteps: ['a'] }],
  });
  expectError(
    await send(path, 'DELETE'),
    409,
    'Drafts use the file. Replace it there, or delete it with force=true',
  );
  const byOther = await send(`${path}/replace`, 'POST', { by: other, lessonId, stepId: 'a' });
  expect(jsonOf(byOther)).toEqual({ replaced: 1, isComplete: true });
  expect((await send(path, 'DELETE')).status).toBe(204);
  expect((await send(path)).status).toBe(404);

  const published = jsonOf(await send(`${draft}/publish`, 'POST', {})) as { id: string };
  const { report } = await ended(api, published.id);
  const row = await api.db.media.findOne({ versionId: report?.versionId }).lean().exec();
  expect(row?.mediaId).toBe(other);
  expect(jsonOf(await send(`/api/media/${other}`))).toMatchObject({
    uses: { lessons: [{ lessonId, draftSteps: null }] },
  });
  expectError(
    await send(`/api/media/${other}?force=true`, 'DELETE'),
    409,
    'A version of a lesson uses the file: it stays',
  );

  const { headers } = await buildOrganization(api);
  for (const [method, json] of [['GET'], ['PATCH', {}], ['DELETE']] as const)
    expect((await send(`/api/media/${other}`, method, json, headers)).status).toBe(404);
  expect((await send(`/api/media/${other}/replace`, 'POST', { by: other }, headers)).status).toBe(404);
  expect(jsonOf(await send('/api/media', 'GET', undefined, headers))).toEqual({
    files: [],
    nextCursor: null,
  });
});

test('the library has the files of imports once, and lists them by an index', async () => {
  const bytes = png(3, 3);
  const media = [{ bytes, mimeType: 'image/png', extension: 'png' }];
  await buildVersion(api, api.organization, (await buildPackage({ media })).path);
  await buildVersion(api, api.organization, (await buildPackage({ media })).path);
  const { _id: organizationId } = api.organization;
  const asset = await api.db.libraryFiles.find({ organizationId, 'asset.size': bytes.length }).lean().exec();
  const own = asset.filter(({ _id, asset: { sha256 } }) => _id === libraryFileId(organizationId, sha256));
  expect(own.length).toBeGreaterThan(0);
  expect(new Set(asset.map(({ asset: { sha256 } }) => sha256)).size).toBe(asset.length);
  const plan = await api.db.libraryFiles
    .find({ organizationId, kind: 'image' })
    .sort({ createdAt: -1, _id: 1 })
    .explain('queryPlanner');
  expect(JSON.stringify(plan)).toContain('"IXSCAN"');
  expect(JSON.stringify(plan)).not.toContain('"stage":"SORT"');
});

test('hostile files are refused or made harmless', async () => {
  const refused: [string, Uint8Array, RegExp][] = [
    ['page.png', Buffer.from('<!doctype html><script>alert(1)</script>'), /is text\/html, not image\/png/],
    ['page.html', Buffer.from('<!doctype html><script>alert(1)</script>'), /lessons do not show/],
    ['bomb.png', png(60_000, 60_000), /60000 × 60000 pixels/],
    ['random', randomBytes(100), /lessons do not show/],
  ];
  for (const [name, bytes, fault] of refused) {
    const { status, error } = await uploaded(name, bytes);
    expect([status, error?.code]).toEqual(['failed', 'INVALID_CONTENT']);
    expect(error?.message).toMatch(fault);
  }
  expect((await begin(api, 10, { filename: '../x.png', asMedia: 'true' })).status).toBe(422);

  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><rect/></svg>';
  const drawing = (await uploaded('drawing.svg', Buffer.from(svg))).mediaFileId;
  const { url } = jsonOf(await send(`/api/media/${drawing}`)) as File;
  const served = await fetch(`${api.url}${url}`);
  expect(await served.text()).not.toMatch(/alert/);
  expect(served.headers.get('content-security-policy')).toMatch(/default-src 'none'.*sandbox/);
  expect(served.headers.get('x-content-type-options')).toBe('nosniff');

  const srt = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nTide\n');
  const captions = (await uploaded('tide.srt', srt)).mediaFileId;
  const file = jsonOf(await send(`/api/media/${captions}`)) as File;
  expect([file.kind, file.mimeType]).toEqual(['captions', 'text/vtt']);
  expect(await (await fetch(`${api.url}${file.url}`)).text()).toBe(
    'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nTide\n',
  );
});
