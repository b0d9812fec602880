import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPlatformClient } from '../../shared/lti/platform-requests.ts';
import type { PlatformClient } from '../../shared/lti/platform-requests.ts';
import { answer, cutChunked, file, gzipped, hang, raw, redirectTo, reset } from '../support/origin.ts';
import { slowly, stalled, startOrigin, stream, truncated } from '../support/origin.ts';
import type { Behavior, Origin } from '../support/origin.ts';

let origin: Origin;
let client: PlatformClient;

beforeEach(async () => {
  origin = await startOrigin();
  client = createPlatformClient({ allowedPrivateHosts: [origin.host] });
});
afterEach(async () => {
  client.close();
  await origin.close();
});

const get = (url: string, signal?: AbortSignal) =>
  client.request(url, { method: 'GET', ...(signal !== undefined && { signal }) });

test('a response arrives with its status, headers and text unchanged', async () => {
  origin.script('/', answer(403, { 'x-why': 'because' }, 'Näh'));
  const { status, headers, text } = await get(origin.url('/'));
  expect({ status, why: headers.get('X-Why'), text }).toEqual({ status: 403, why: 'because', text: 'Näh' });
});

test('a request is sent unchanged', async () => {
  let body = '';
  origin.script('/x', async (request, response) => {
    for await (const chunk of request) body += String(chunk);
    response.end();
  });
  await client.request(origin.url('/x?a=1'), {
    method: 'POST',
    headers: { 'Content-Type': 'application/vnd.ims.lis.v1.score+json', Authorization: 'Bearer x' },
    body: '{"a":"ü"}',
  });
  const [sent] = origin.log;
  expect({ method: sent?.method, url: sent?.url, body }).toEqual({
    method: 'POST',
    url: '/x?a=1',
    body: '{"a":"ü"}',
  });
  expect(sent?.headers).toMatchObject({
    'content-type': 'application/vnd.ims.lis.v1.score+json',
    authorization: 'Bearer x',
    'user-agent': 'Lectern',
  });
});

test('a redirect is returned and not followed', async () => {
  origin.script('/', redirectTo(origin.url('/elsewhere')));
  expect((await get(origin.url('/'))).status).toBe(302);
  expect(origin.requests('/elsewhere')).toBe(0);
});

const large = 'x'.repeat(256 * 1024);

test.each<[string, Behavior, string]>([
  ['is longer', file(`${large}x`), 'too_large'],
  ['never ends', stream(), 'too_large'],
  ['is too long after decompression', gzipped(`${large}x`), 'too_large'],
  ['never comes', hang(), 'timeout'],
  ['stops in the middle', stalled('text', 2), 'timeout'],
  ['trickles', slowly('x'.repeat(100), 100, 50), 'timeout'],
  ['is cut off', truncated('text', 2), 'network'],
  ['is cut off between chunks', cutChunked('text'), 'network'],
  ['is no HTTP', raw('hello\r\n\r\n'), 'network'],
  ['is a reset connection', reset(), 'network'],
])('an answer that %s fails', async (_what, behavior, reason) => {
  if (reason === 'timeout') {
    client.close();
    client = createPlatformClient({ allowedPrivateHosts: [origin.host] }, { timeoutMs: 500 });
  }
  origin.script('/', behavior);
  await expect(get(origin.url('/'))).rejects.toMatchObject({ name: 'PlatformRequestError', reason });
});

test.each([
  'http://127.0.0.1:1/',
  'http://lms.example/',
  'https://[::1]/',
  'file:///etc/passwd',
  'https://a:b@lms.example/',
  'lms',
])('%s gets no request', async (url) => {
  await expect(get(url)).rejects.toMatchObject({ reason: 'blocked_address' });
});

test('an abort signal ends the request with its reason', async () => {
  origin.script('/', hang());
  const ending = new AbortController();
  const asked = get(origin.url('/'), ending.signal);
  ending.abort(new Error('no more'));
  await expect(asked).rejects.toThrow('no more');
  await expect(get(origin.url('/'), ending.signal)).rejects.toThrow('no more');
});
