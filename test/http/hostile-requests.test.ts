import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { exportPath } from '../support/factories.ts';
import { ask, sendRaw, statusOf } from '../support/answers.ts';
import { useApi } from '../support/use.ts';

const admin = { ADMIN_USERNAME: 'operator', ADMIN_PASSWORD: 'a long, long password' };
const login = `Basic ${btoa('operator:a long, long password')}`;

const api = useApi(admin);

function request(target: string, headers: string[] = []): Promise<string> {
  const lines = [`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...headers, '', ''];
  return sendRaw(api.url, Buffer.from(lines.join('\r\n'), 'latin1'));
}

test.each([
  ['a bad encoding', '/admin/queues/%E0%A4%A'],
  ['a bad encoding below its files', '/admin/queues/static/%E0%A4%A'],
  ['a NUL byte below its files', '/admin/queues/static/%00'],
  ['a path traversal from its files', '/admin/queues/static/..%2f..%2f..%2fpackage.json'],
])('%s in a URL of the queue board gets 4xx, never 500 and never a hang', async (_what, target) => {
  for (const headers of [[], [`Authorization: ${login}`]]) {
    const status = statusOf(await request(target, headers));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  }
});

test.each<[string, string[]]>([
  ['1 MB of small headers', Array.from({ length: 50_000 }, (_, index) => `X-${index}: aaaaaaaaaaa`)],
  ['two credentials', ['Authorization: Bearer a.b', 'Authorization: Bearer c.d']],
  ['a NUL byte in a header', ['X-A: \0']],
  ['a negative Content-Length', ['Content-Length: -1']],
  ['two Content-Lengths', ['Content-Length: 1', 'Content-Length: 2']],
])('%s gets 4xx, never 500 and never a hang', async (_what, headers) => {
  for (const target of [exportPath({ lessonId: randomUUID(), _id: randomUUID() }), '/admin/queues']) {
    const status = statusOf(await request(target, headers));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  }
  expect((await ask(`${api.url}/health/live`)).status).toBe(200);
});

test('responses echo a valid request id and replace an invalid one', async () => {
  const idFor = async (given: string) =>
    /^X-Request-Id: (.*)\r$/im.exec(await request('/health/live', [`X-Request-Id: ${given}`]))?.[1];
  for (const sane of ['a', 'trace:1-2_3.4', 'a'.repeat(128)]) expect(await idFor(sane)).toBe(sane);
  for (const odd of ['', 'a b', 'a'.repeat(129), '<script>', 'a"b', 'a\tb', 'ä', '${jndi:ldap://x}'])
    expect(await idFor(odd)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  const two = await request('/health/live', ['X-Request-Id: a', 'X-Request-Id: b']);
  expect(two).not.toMatch(/^X-Request-Id: [ab]\b/im);
});

test('error responses carry the request id as well', async () => {
  const headers = { 'x-request-id': 'my-request' };
  for (const path of ['/nowhere', exportPath({ lessonId: 'x', _id: 'y' }), '/admin/queues'])
    expect((await ask(api.url + path, { headers })).headers.get('x-request-id')).toBe('my-request');
});
