import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { useExportLab } from './lab.ts';
import { pngWith } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

let request: (headers: Record<string, string>, method?: string) => Promise<Answer>;
let whole: Answer;
let etag: string;

beforeAll(async () => {
  const version = await lab.build(pngWith('picture'.repeat(40_000)));
  request = (headers, method = 'GET') => lab.get(version, { headers, method });
  whole = await request({});
  etag = whole.headers.get('etag') ?? '';
});

test('an interrupted download resumes at its end and gives the same archive', async () => {
  const cut = 123_456;
  const rest = await request({ range: `bytes=${cut}-`, 'if-range': etag });
  expect(rest.status).toBe(206);
  expect(rest.headers.get('content-range')).toBe(
    `bytes ${cut}-${whole.body.length - 1}/${whole.body.length}`,
  );
  expect(rest.headers.get('content-disposition')).toBe('attachment; filename="a-lesson-v1.zip"');
  expect(Buffer.concat([whole.body.subarray(0, cut), rest.body]).equals(whole.body)).toBe(true);
});

test('responses to GET, ranges and HEAD carry the digest of the whole archive, and HEAD ignores ranges', async () => {
  const digest = `sha-256=:${createHash('sha256').update(whole.body).digest('base64')}:`;
  const part = await request({ range: 'bytes=10-19' });
  const head = await request({ range: 'bytes=10-19' }, 'HEAD');
  const digests = [whole, part, head].map((answer) => answer.headers.get('repr-digest'));
  expect(digests).toEqual([digest, digest, digest]);
  expect([head.status, head.body.length]).toEqual([200, 0]);
  for (const name of ['content-length', 'content-type', 'content-disposition', 'etag', 'accept-ranges'])
    expect({ name, value: head.headers.get(name) }).toEqual({ name, value: whole.headers.get(name) });
});

test.each([
  ['that of the archive', () => etag, 206],
  ['among others', () => `"another", ${etag}`, 206],
  ['*', () => '*', 206],
  ['another', () => '"another"', 412],
  ['weak', () => `W/${etag}`, 412],
])('a range with an If-Match that is %s', async (_, condition, status) => {
  const answer = await request({ range: 'bytes=100-', 'if-match': condition() });
  expect(answer.status).toBe(status);
  if (status === 206) expect(answer.body.equals(whole.body.subarray(100))).toBe(true);
  else expect(jsonOf(answer)).toMatchObject({ code: 'PRECONDITION_FAILED', error: 'Precondition Failed' });
});

test('If-None-Match with the current ETag gets 304 without the bytes', async () => {
  const answer = await request({ 'if-none-match': etag });
  expect([answer.status, answer.body.length]).toEqual([304, 0]);
  expect(answer.headers.get('etag')).toBe(etag);
});

test('a range outside of the archive gets 416 as an export error', async () => {
  const answer = await request({ range: `bytes=${whole.body.length}-` });
  expect(answer.status).toBe(416);
  expect(answer.headers.get('content-range')).toBe(`bytes */${whole.body.length}`);
  expect(jsonOf(answer)).toMatchObject({ error: 'Range Not Satisfiable', code: 'RANGE_NOT_SATISFIABLE' });
});
