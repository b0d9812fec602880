import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import { testAssetSecret } from '../support/harness.ts';
import { ask, expectError } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { addressesOf, listFiles } from './manifests.ts';

let lab: ExportLab;
/** URLs of two media files, of ten bytes each. */
let url: string;
let other: string;
let etag: string;

beforeAll(async () => {
  lab = await startExportLab();
  await lab.harness.startWorker();
  const version = await lab.build(Buffer.from('0123456789'), Buffer.from('abcdefghij'));
  const listed = await listFiles(lab, version);
  const addresses = addressesOf(listed);
  [url = '', other = ''] = [...addresses].filter(([path]) => path.startsWith('media/')).map(([, at]) => at);
  etag = `"${listed.files.media[0]?.sha256}"`;
});
afterAll(() => lab.close());

const expiresOf = (address: string) => new URL(address).searchParams.get('expires') ?? '';
const signatureOf = (address: string) => new URL(address).searchParams.get('signature') ?? '';

test('a signed URL needs no credentials, for GET and HEAD', async () => {
  const whole = await ask(url);
  expect({ status: whole.status, etag: whole.headers.get('etag') }).toEqual({ status: 200, etag });
  const head = await ask(url, { method: 'HEAD' });
  expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
  for (const name of ['etag', 'content-length', 'accept-ranges', 'repr-digest'])
    expect({ name, value: head.headers.get(name) }).toEqual({ name, value: whole.headers.get(name) });
});

test('a file supports ranges, and If-Range never joins parts of another file', async () => {
  const whole = (await ask(url)).body;
  const part = await ask(url, { headers: { range: 'bytes=4-', 'if-range': etag } });
  expect([part.status, part.body.equals(whole.subarray(4))]).toEqual([206, true]);
  const changed = await ask(url, { headers: { range: 'bytes=4-', 'if-range': '"another"' } });
  expect([changed.status, changed.body.equals(whole)]).toEqual([200, true]);
  expect((await ask(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
});

describe('the response is 403 for', () => {
  test.each([
    [
      'the URL of one file with the signature of another',
      () => url.replace(/signature=.*/, `signature=${signatureOf(other)}`),
    ],
    ['another file under the signature of this one', () => other.replace(/\?.*/, new URL(url).search)],
    ['a later expiry', () => url.replace(/expires=\d+/, `expires=${Number(expiresOf(url)) + 1}`)],
    ['an earlier expiry', () => url.replace(/expires=\d+/, `expires=${Number(expiresOf(url)) - 1}`)],
    ['a longer file', () => url.replace('/10/', '/11/')],
    ['another type', () => url.replace('/image/png/', '/text/html/')],
    ['another name', () => url.replace('.png', '.html')],
    [
      'another folder of the store',
      () => url.replace(/v1\/(assets|cache)/, (part) => (part === 'v1/assets' ? 'v1/cache' : 'v1/assets')),
    ],
    [
      'a flipped bit in the signature',
      () => url.replace(/signature=./, (start) => (start.endsWith('A') ? 'signature=B' : 'signature=A')),
    ],
    ['no signature', () => url.replace(/&signature=.*/, '')],
    ['no expiry', () => url.replace(/expires=\d+&/, '')],
  ])('%s', async (_what, wrong) => {
    expect(wrong()).not.toBe(url);
    for (const method of ['GET', 'HEAD']) expect((await ask(wrong(), { method })).status).toBe(403);
    expectError(await ask(wrong()), 403, 'Invalid or expired signature');
  });

  test('an expired URL gets 403', async () => {
    const [, sha256 = ''] = /([0-9a-f]{64})/.exec(url) ?? [];
    const asset = { area: 'assets', sha256, size: 10, mimeType: 'image/png', fileName: 'a.png' } as const;
    const past = signAssetUrl(testAssetSecret, asset, {
      base: lab.api,
      until: new Date(Date.now() - 1000),
    });
    expectError(await ask(past.url), 403, 'Invalid or expired signature');
    const future = signAssetUrl(testAssetSecret, asset, {
      base: lab.api,
      until: new Date(Date.now() + 60_000),
    });
    expect((await ask(future.url)).status).toBe(200);
  });
});
