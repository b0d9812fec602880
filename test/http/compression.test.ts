import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { embedPath } from '../embed/embed-pages.ts';
import { buildUser, openSession } from '../accounts/users.ts';
import { heading, Player, publishLesson, section, step } from '../player/player-lessons.ts';
import { storeAsset } from '../media/store-asset.ts';
import { buildLearnerToken } from '../support/factories.ts';
import { useApi } from '../support/use.ts';

const api = useApi();
const long = 'The tide rises and falls. '.repeat(200);
let version: LessonVersion;
let paths: Record<string, string>;
const warnings: string[] = [];
const collect = (warning: Error) => void warnings.push(warning.message);
afterAll(() => {
  process.off('warning', collect);
  // For one, of more listeners on a response than Node allows.
  expect(warnings).toEqual([]);
});
beforeAll(async () => {
  process.on('warning', collect);
  const text = { type: 'Text', props: { id: 'text', html: `<p>${long}</p>` } };
  version = await publishLesson(api, api.organization, {
    sections: [section('one', step('s1', heading(), text))],
  });
  const token = buildLearnerToken(version);
  await new Player(api.url, version, token).write({ progressData: { note: long } });
  paths = {
    'the embed page': embedPath(version, token),
    'player data': `/api/public/lessons/${version.lessonId}/player-data?token=${token}`,
    'a session': `/api/public/lessons/${version.lessonId}/session?token=${token}`,
    progress: `/api/public/lessons/${version.lessonId}/progress/learner-1`,
    'the OpenAPI document': '/openapi.json',
    'a small response': '/livez',
  };
});

/** Requests a path without decoding the response. */
async function raw(path: string, encoding: string, headers: Record<string, string> = {}) {
  const { get } = await import('node:http');
  const options = {
    headers: { ...api.headers, ...headers, ...(encoding && { 'accept-encoding': encoding }) },
  };
  return new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    get(api.url + path, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
    }).on('error', reject);
  });
}

const zstd = (zlib as { zstdDecompressSync?: (bytes: Buffer) => Buffer }).zstdDecompressSync;
const decoders: Record<string, ((bytes: Buffer) => Buffer) | undefined> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd,
};

/** Removes what differs at each request. */
const constant = (text: string) => text.replace(/"now":"[^"]*"/, '');

const compressed = ['the embed page', 'player data', 'a session', 'progress', 'the OpenAPI document'];
describe.each(compressed)('%s', (name) => {
  test('is compressed as the client accepts, and varies by that', async () => {
    const plain = await raw(paths[name] ?? '', 'identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers.vary).toContain('Accept-Encoding');
    for (const accepted of ['gzip', 'br, gzip;q=0.5', 'zstd, gzip;q=0.5', 'gzip;q=0', '']) {
      const { headers, body } = await raw(paths[name] ?? '', accepted);
      const encoding = headers['content-encoding'] as string | undefined;
      if (accepted === '' || accepted === 'gzip;q=0') expect(encoding).toBeUndefined();
      else expect(accepted).toContain(encoding);
      const decoded = encoding === undefined ? body : decoders[encoding]?.(body);
      expect(constant(String(decoded))).toBe(constant(plain.body.toString()));
      if (encoding !== undefined) expect(body.length).toBeLessThan(plain.body.length / 1.5);
      expect(headers.vary).toBe(plain.headers.vary);
    }
  });
});

test('each encoding of a constant file has its own strong ETag, with which it is not sent again', async () => {
  const answers = await Promise.all(
    ['identity', 'gzip', 'br'].map((encoding) => raw('/openapi.json', encoding)),
  );
  const etags = answers.map(({ headers }) => String(headers.etag));
  expect(new Set(etags).size).toBe(3);
  for (const etag of etags) expect(etag).toMatch(/^"[0-9a-f]{64}(-\w+)?"$/);
  const known = await raw('/openapi.json', 'br', { 'if-none-match': etags[2] ?? '' });
  expect(known.body).toHaveLength(0);
});

test('small responses, and those to requests with cookies or Basic authentication, are not compressed', async () => {
  expect((await raw(paths['a small response'] ?? '', 'gzip')).headers['content-encoding']).toBeUndefined();
  const { user } = await buildUser(api, { organization: api.organization });
  const { cookie } = await openSession(api.url, user);
  for (const [name, value] of [
    ['cookie', cookie],
    ['authorization', 'Basic YTpi'],
  ] as const) {
    const answer = await raw(paths['a session'] ?? '', 'gzip', { [name]: value });
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.body.length).toBeGreaterThan(1024);
  }
});

test.each(['text/vtt', 'image/svg+xml'])('a file of type %s is compressed', async (mimeType) => {
  const { path, sha256 } = await storeAsset(api, `${mimeType} ${long}`, { mimeType });
  for (const encoding of ['br', 'gzip']) {
    const { headers, body } = await raw(path, encoding);
    expect(headers).toMatchObject({ 'content-encoding': encoding, etag: `"${sha256}-${encoding}"` });
    expect(headers).toMatchObject({ vary: 'Accept-Encoding', 'content-length': String(body.length) });
    expect(decoders[encoding]?.(body).toString()).toBe(`${mimeType} ${long}`);
    const known = await raw(path, encoding, { 'if-none-match': `"${sha256}-${encoding}"` });
    expect(known.body).toHaveLength(0);
  }
  const part = await raw(path, 'br', { range: 'bytes=0-3' });
  expect(part.headers).toMatchObject({ etag: `"${sha256}"`, vary: 'Accept-Encoding' });
  expect(part.headers['content-encoding']).toBeUndefined();
  expect(part.body.toString()).toBe(mimeType.slice(0, 4));
});

test.each([
  ['a picture', long, 'image/png'],
  ['a small text', 'small', 'text/vtt'],
  ['a large text', 'x'.repeat(3 * 1024 ** 2), 'text/vtt'],
])('%s is sent as it is', async (_what, text, mimeType) => {
  const { path } = await storeAsset(api, text, { mimeType });
  const { headers, body } = await raw(path, 'br, gzip');
  expect(headers['content-encoding']).toBeUndefined();
  expect(body.toString()).toBe(text);
});
