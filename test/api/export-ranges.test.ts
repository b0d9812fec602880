import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from './answers.ts';
import type { Answer } from './answers.ts';

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

test('a download that was cut off goes on where it ended, and gives the same archive', async () => {
  const cut = 123_456;
  const rest = await ask(url, { headers: { ...headers, range: `bytes=${cut}-`, 'if-range': etag } });
  expect(rest.status).toBe(206);
  expect(rest.headers.get('content-range')).toBe(
    `bytes ${cut}-${whole.body.length - 1}/${whole.body.length}`,
  );
  expect(rest.headers.get('content-disposition')).toBe('attachment; filename="a-lesson-v1.zip"');
  expect(Buffer.concat([whole.body.subarray(0, cut), rest.body]).equals(whole.body)).toBe(true);
});

test('the rest of another archive is never spliced in: a range of one that changed gets the whole', async () => {
  const answer = await ask(url, { headers: { ...headers, range: 'bytes=100-', 'if-range': '"another"' } });
  expect([answer.status, answer.body.equals(whole.body)]).toEqual([200, true]);
});

test('who has the archive already is told so, without its bytes', async () => {
  const answer = await ask(url, { headers: { ...headers, 'if-none-match': etag } });
  expect([answer.status, answer.body.length]).toEqual([304, 0]);
  expect(answer.headers.get('etag')).toBe(etag);
});

test('a range outside of the archive is refused in the body of an export', async () => {
  const answer = await ask(url, { headers: { ...headers, range: `bytes=${whole.body.length}-` } });
  expect(answer.status).toBe(416);
  expect(answer.headers.get('content-range')).toBe(`bytes */${whole.body.length}`);
  expect(jsonOf(answer)).toMatchObject({ error: 'Range Not Satisfiable', code: 'RANGE_NOT_SATISFIABLE' });
});
