import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';

let harness: Harness;
let url: string;
let headers: { authorization: string };
let whole: Answer;
let etag: string;

beforeAll(async () => {
  harness = await startHarness();
  const api = await harness.startApi();
  await harness.startWorker();
  const built = await buildOrganization(harness);
  headers = built.headers;
  const media = [{ bytes: Buffer.alloc(300_000, 'picture') }];
  const version = await buildVersion(harness, built.organization, (await buildPackage({ media })).path);
  url = api + exportPath(version);
  whole = await ask(url, { headers });
  etag = whole.headers.get('etag') ?? '';
});
afterAll(() => harness.close());

test('an interrupted download resumes at its end and gives the same archive', async () => {
  const cut = 123_456;
  const rest = await ask(url, { headers: { ...headers, range: `bytes=${cut}-`, 'if-range': etag } });
  expect(rest.status).toBe(206);
  expect(rest.headers.get('content-range')).toBe(
    `bytes ${cut}-${whole.body.length - 1}/${whole.body.length}`,
  );
  expect(rest.headers.get('content-disposition')).toBe('attachment; filename="a-lesson-v1.zip"');
  expect(Buffer.concat([whole.body.subarray(0, cut), rest.body]).equals(whole.body)).toBe(true);
});

test('responses to GET, ranges and HEAD carry the digest of the whole archive', async () => {
  const sha256 = createHash('sha256').update(whole.body).digest('base64');
  const digest = `sha-256=:${sha256}:`;
  const part = await ask(url, { headers: { ...headers, range: 'bytes=10-19' } });
  const head = await ask(url, { method: 'HEAD', headers });
  const digests = [whole, part, head].map((answer) => answer.headers.get('repr-digest'));
  expect(digests).toEqual([digest, digest, digest]);
});

test('HEAD returns the headers that a download needs, whatever range is requested', async () => {
  const head = await ask(url, { method: 'HEAD', headers: { ...headers, range: 'bytes=10-19' } });
  expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
  for (const name of ['content-length', 'content-type', 'content-disposition', 'etag', 'accept-ranges'])
    expect({ name, value: head.headers.get(name) }).toEqual({ name, value: whole.headers.get(name) });
});

test('a request for several ranges gets the whole archive', async () => {
  const answer = await ask(url, { headers: { ...headers, range: 'bytes=0-3,10-19' } });
  expect([answer.status, answer.body.equals(whole.body)]).toEqual([200, true]);
  expect(answer.headers.get('content-range')).toBeNull();
});

test('If-Range with a changed archive gets the whole archive, never parts of two archives', async () => {
  const answer = await ask(url, { headers: { ...headers, range: 'bytes=100-', 'if-range': '"another"' } });
  expect([answer.status, answer.body.equals(whole.body)]).toEqual([200, true]);
});

test.each([
  ['that of the archive', () => etag, 206],
  ['among others', () => `"another", ${etag}`, 206],
  ['*', () => '*', 206],
  ['another', () => '"another"', 412],
  ['weak', () => `W/${etag}`, 412],
])('a range with an If-Match that is %s', async (_, condition, status) => {
  const conditions = { range: 'bytes=100-', 'if-match': condition() };
  const answer = await ask(url, { headers: { ...headers, ...conditions } });
  expect(answer.status).toBe(status);
  if (status === 206) expect(answer.body.equals(whole.body.subarray(100))).toBe(true);
  else expect(jsonOf(answer)).toMatchObject({ code: 'PRECONDITION_FAILED', error: 'Precondition Failed' });
});

test('If-None-Match with the current ETag gets 304 without the bytes', async () => {
  const answer = await ask(url, { headers: { ...headers, 'if-none-match': etag } });
  expect([answer.status, answer.body.length]).toEqual([304, 0]);
  expect(answer.headers.get('etag')).toBe(etag);
});

test('a range outside of the archive gets 416 as an export error', async () => {
  const answer = await ask(url, { headers: { ...headers, range: `bytes=${whole.body.length}-` } });
  expect(answer.status).toBe(416);
  expect(answer.headers.get('content-range')).toBe(`bytes */${whole.body.length}`);
  expect(jsonOf(answer)).toMatchObject({ error: 'Range Not Satisfiable', code: 'RANGE_NOT_SATISFIABLE' });
});
