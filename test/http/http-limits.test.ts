import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { serverLimits } from '../../api/http/http-server.ts';
import { parseConfig } from '../../shared/platform/config.ts';
import { codeOfStatus } from '../../shared/platform/errors.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, sendRaw, statusOf } from '../support/answers.ts';
import { serve } from '../support/serve.ts';

const echoLength = (request: IncomingMessage, response: ServerResponse) => {
  response.end(String(request.url?.length));
};

/** Asserts a raw API error response followed by a closed connection. */
function expectRejection(raw: string, status: number, error: string): void {
  const [head = '', body = ''] = raw.split('\r\n\r\n');
  expect(statusOf(raw)).toBe(status);
  const lines = head.split('\r\n');
  const code = codeOfStatus(status);
  expect(JSON.parse(body)).toEqual({ error, code });
  expect(lines).toContain(`Error-Code: ${code}`);
  expect(lines).toContain('Content-Type: application/json; charset=utf-8');
  expect(lines).toContain(`Content-Length: ${body.length}`);
  expect(lines).toContain('Connection: close');
  expect(head).toMatch(/\r\nX-Request-Id: [\da-f-]{36}(\r\n|$)/);
}

/**
 * Sends the first bytes at once and the rest one by one until the server closes the connection;
 * returns the response.
 */
async function drip(address: string, first: string, each: string): Promise<string> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  // The write that meets the closed connection fails.
  socket.on('error', () => undefined);
  socket.write(first);
  const drops = setInterval(() => socket.write(each), 50);
  // `once` from node:events would reject on that error.
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(drops);
  return received;
}

test('a URL with a 16 KB token and 8 KB of cookies is accepted', async () => {
  const address = await serve(echoLength);
  const target = `/?token=${'a'.repeat(16 * 1024)}`;
  const answer = await ask(address + target, { headers: { cookie: 'c'.repeat(8 * 1024) } });
  expect([answer.status, answer.body.toString()]).toEqual([200, String(target.length)]);
});

test.each([
  ['an address', `GET /${'a'.repeat(33 * 1024)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a header', `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(33 * 1024)}\r\n\r\n`],
])('%s of more than 32 KB gets 431 with an error message', async (_what, request) => {
  const raw = await sendRaw(await serve(echoLength), request);
  expectRejection(raw, 431, 'The URL and headers of a request must be at most 32768 bytes');
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['a header without a name', 'GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
  [
    'a Content-Length and chunks',
    'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ],
])('%s gets 400 with an error message', async (_what, request) => {
  expectRejection(await sendRaw(await serve(echoLength), request), 400, 'The request is not valid HTTP');
});

test('the API cuts off a client that drips its body with 408', async () => {
  const address = await serve((request) => request.resume(), { requestTimeoutMs: 500 });
  const raw = await drip(address, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n', 'x');
  expectRejection(raw, 408, 'The request took too long to arrive');
});

test('a client that drips its headers gets 408; a complete request may take longer', async () => {
  let answer = (): unknown => undefined;
  const address = await serve((_request, response) => (answer = () => response.end('late')), {
    // The complete request arrives within that, also on a busy machine.
    requestTimeoutMs: 2_000,
  });
  const asked = ask(address);
  const dripped = await drip(address, 'GET / HTTP/1.1\r\nHost: a\r\n', 'X-Drop: a\r\n');
  expectRejection(dripped, 408, 'The request took too long to arrive');
  answer();
  expect((await asked).body.toString()).toBe('late');
});

test('the API cuts off a client that stops reading and frees its response buffers', async () => {
  let closed = false;
  const address = await serve(
    (_request, response) => {
      response.once('close', () => (closed = true));
      const fill = () => {
        while (response.write(Buffer.alloc(1024 ** 2)));
      };
      response.on('drain', fill);
      fill();
    },
    { idleTimeoutMs: 500 },
  );
  const [stalled] = (await once(get(address, { agent: false }), 'response')) as [IncomingMessage];
  onTestFinished(() => void stalled.destroy());
  stalled.on('error', () => undefined);
  await waitFor('the cut', () => closed);
});

test('a slow client that keeps reading is not cut off', async () => {
  const bytes = 64 * 1024 ** 2;
  const address = await serve((_request, response) => response.end(Buffer.alloc(bytes)), {
    // A busy machine pauses the client for less than that.
    idleTimeoutMs: 2_000,
  });
  const [slow] = (await once(get(address, { agent: false }), 'response')) as [IncomingMessage];
  let received = 0;
  const started = performance.now();
  for await (const chunk of slow) {
    received += (chunk as Buffer).length;
    // Reads a little at a time, for longer than the idle timeout.
    const share = received / bytes;
    await waitFor('its turn', () => performance.now() - started > share * 3_000);
  }
  expect(received).toBe(bytes);
});

test('a client that waits for an archive never hits the idle timeout', () => {
  const silenceFor = (seconds: string) =>
    serverLimits(parseConfig({ EXPORT_WAIT_SECONDS: seconds })).idleTimeoutMs;
  expect(silenceFor('300')).toBe(600_000);
  expect(silenceFor('3600')).toBe(3_660_000);
});

test('a response in progress is not mixed with the error for the bytes that follow', async () => {
  const address = await serve((_request, response) => {
    response.writeHead(200, { 'Content-Length': 1000 });
    response.write('x'.repeat(10));
  });
  const raw = await sendRaw(address, 'GET / HTTP/1.1\r\nHost: a\r\n\r\nNO HTTP\r\n\r\n');
  expect(raw.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1);
  expect(raw).not.toContain('The request is not valid HTTP');
});
