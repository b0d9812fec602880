import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';
import { apiErrors } from '../../api/http/error-format.ts';
import { readJsonBody } from '../../api/http/middleware/json-body.ts';
import type { BodyLimits } from '../../api/http/middleware/request-bytes.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { ask, jsonOf, sendRaw, statusOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { serve } from '../support/serve.ts';

const maxBytes = 65_536;
const json = { 'content-type': 'application/json' };

/** Returns the parsed body as the response. */
function serveEcho(limits: Partial<BodyLimits> = {}): Promise<string> {
  const app = new Koa();
  app.use(async (ctx, next) => {
    ctx.state.log = createLogger({ logLevel: 'silent' }, 'test');
    await next();
  });
  app.use(apiErrors().render({}));
  app.use(async (ctx) => {
    ctx.body = await readJsonBody(ctx, { maxBytes, ...limits });
  });
  const handle = app.callback();
  return serve((...exchange) => void handle(...exchange));
}

async function post(body: NonNullable<RequestInit['body']>, headers: Record<string, string> = json) {
  return ask(await serveEcho(), { method: 'POST', body, headers });
}

function expectNoJson(answer: Answer, error = 'Request body must be valid JSON'): void {
  const body = { error, code: 'INVALID_CONTENT' };
  expect({ status: answer.status, body: jsonOf(answer) }).toEqual({ status: 422, body });
}

const wrongType =
  'The body must be JSON in UTF-8 with Content-Type: application/json, and without Content-Encoding';

function expectTooLarge(answer: Answer): void {
  expect({ status: answer.status, body: jsonOf(answer) }).toEqual({
    status: 413,
    body: { error: 'Request body must be at most 65536 bytes', code: 'PAYLOAD_TOO_LARGE' },
  });
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['spaces, number-like names and their order', ' {"b": 1.0,\t"10":2, "9":1e400}\n'],
  ['a name from Object.prototype', '{"__proto__": {"constructor": 1}}'],
  ['letters of every script and lone surrogates', '"é 漢 🙂 \\ud800"'],
  ['a value that is not an object', 'null'],
  ['200 levels', nested(200)],
  ['exactly the maximum number of bytes', `"${'x'.repeat(maxBytes - 2)}"`],
])('a body arrives unchanged: %s', async (_what, body) => {
  const answer = await post(body);
  expect(answer.status).toBe(200);
  expect(answer.body.toString('utf8')).toBe(body);
});

test.each([
  'application/json',
  'Application/JSON; charset=UTF-8',
  'application/json;charset="utf-8";profile=x',
  'application/merge-patch+json',
])('the type %s counts as JSON', async (type) => {
  expect((await post('{}', { 'content-type': type })).status).toBe(200);
});

test.each([
  ['text/json'],
  ['application/x-www-form-urlencoded'],
  ['application/json, text/plain'],
  ['application/json; charset=iso-8859-1'],
  ['application/json; charset=utf-16'],
])('a body of type %s is rejected', async (type) => {
  expectNoJson(await post('{}', { 'content-type': type }), wrongType);
});

test.each<[string, string | Uint8Array<ArrayBuffer>]>([
  ['nothing', ''],
  ['half an object', '{"a": '],
  ['a byte order mark', '\ufeff{}'],
  ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
  ['a surrogate in UTF-8', new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['201 levels', nested(201)],
  ['as many nested brackets as fit', '['.repeat(maxBytes)],
])('%s is not valid JSON', async (_what, body) => {
  expectNoJson(await post(body));
});

test('a compressed body is rejected, however small', async () => {
  for (const coding of ['gzip', 'deflate', 'br', 'identity, gzip']) {
    const body = new Uint8Array(gzipSync('{}'));
    expectNoJson(await post(body, { ...json, 'content-encoding': coding }), wrongType);
  }
  expect((await post('{}', { ...json, 'content-encoding': 'identity' })).status).toBe(200);
});

test('a body one byte over the limit is rejected', async () => {
  expectTooLarge(await post(`"${'x'.repeat(maxBytes - 1)}"`));
});

test('a client that sends 10 MB gets the response and can send another request', async () => {
  const address = await serveEcho();
  for (let again = 0; again < 2; again += 1) {
    const body = 'x'.repeat(10_000_000);
    expectTooLarge(await ask(address, { method: 'POST', headers: json, body }));
  }
  expect((await ask(address, { method: 'POST', headers: json, body: '{}' })).status).toBe(200);
});

test.each([
  ['a length that wraps around in 32 bits', '4294967298'],
  ['a length beyond 64 bits', '9'.repeat(19)],
])('%s is too large', async (_what, length) => {
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}`;
  const socket = await connected(await serveEcho());
  socket.write(`${head}\r\n\r\n{}`);
  expect(statusOf(await nextText(socket))).toBe(413);
});

test('Expect: 100-continue gets an error before the body is sent, or 100 where the body is accepted', async () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n';
  const address = await serveEcho();
  const refused = await sendRaw(address, `${head}Content-Length: 10000000\r\n\r\n`);
  expect(statusOf(refused)).toBe(413);
  expect(refused).toContain('Connection: close');

  const socket = await connected(address);
  socket.write(`${head}Content-Length: 2\r\n\r\n`);
  expect(await nextText(socket)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('{}');
  expect(statusOf(await nextText(socket))).toBe(200);
});

const pace = { checkMs: 100, maxIdleChecks: 2, largeBytes: 1000, minBytes: 1000 };

test.each([
  ['sends one byte and stops', '{', ''],
  ['is large and drips', `{"a":"${'x'.repeat(1000)}`, 'x'],
])('a body that %s gets 408 and its connection is closed', async (_what, beginning, drop) => {
  const socket = await connected(await serveEcho({ pace }));
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000';
  socket.write(`${head}\r\n\r\n${beginning}`);
  const drops = setInterval(() => socket.write(drop), 20);
  // The write that meets the closed connection fails.
  socket.on('error', () => undefined);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(drops);
  expect(statusOf(answer)).toBe(408);
  expect(answer).toContain('Connection: close');
  expect(answer).toContain('{"error":"The request took too long to arrive","code":"REQUEST_TIMEOUT"}');
});

async function connected(address: string) {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function nextText(socket: ReturnType<typeof connect>): Promise<string> {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString('latin1');
}
