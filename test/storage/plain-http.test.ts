import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { sendPlain } from '../../shared/storage/s3/plain-http.ts';
import { someBytes } from '../exports/archives.ts';

const bytes = someBytes(300_000);
const part = { start: 1_000, end: 251_000 };
const wanted = bytes.subarray(part.start, part.end);
const head = (changes: Record<string, string> = {}, status = '206 Partial Content') => {
  const headers = {
    'Content-Length': String(wanted.byteLength),
    'Content-Range': `bytes ${part.start}-${part.end - 1}/${bytes.length}`,
    ...changes,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status}`, ...lines].join('\r\n')}\r\n\r\n`;
};

/** Starts a server that answers a connection; returns the outcome of a request, and the bytes that were written. */
async function request(
  respond: (socket: Socket) => void,
  {
    bufferBytes = 65_536,
    write = () => Promise.resolve(),
  }: { bufferBytes?: number; write?: () => Promise<void> } = {},
): Promise<{ error: unknown; written: Buffer; asked: string }> {
  let asked = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      asked = data.toString();
      respond(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const chunks: Buffer[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket/name?a=b`;
  const error: unknown = await sendPlain(
    { url, ...part },
    {
      buffer: Buffer.alloc(bufferBytes),
      callTimeoutMs: 500,
      idleTimeoutMs: 200,
      async write(chunk) {
        await write();
        // A later read must not have changed the chunk.
        chunks.push(Buffer.from(chunk));
      },
    },
  ).then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, written: Buffer.concat(chunks), asked };
}

test.each([1_000, 65_536, 1_048_576])(
  'a buffer of %d bytes gets all bytes, in order',
  async (bufferBytes) => {
    const write = async () => {
      await nextTurn();
      await nextTurn();
    };
    const { error, written, asked } = await request(
      (socket) => socket.end(Buffer.concat([Buffer.from(head()), wanted])),
      { bufferBytes, write },
    );
    expect(error).toBeNull();
    expect(written.equals(wanted)).toBe(true);
    expect(asked).toMatch(
      /^GET \/bucket\/name\?a=b HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nRange: bytes=1000-250999\r\nConnection: close\r\n\r\n$/,
    );
  },
);

test('a head that arrives in pieces is read like a whole one', async () => {
  const { error, written } = await request((socket) => {
    socket.setNoDelay(true);
    void (async () => {
      for (const byte of head()) {
        socket.write(byte);
        await nextTurn();
      }
      socket.write(wanted);
    })();
  });
  expect([error, written.equals(wanted)]).toEqual([null, true]);
});

test.each([
  ['an error', head({}, '503 Slow Down')],
  ['a redirect', head({ Location: 'http://192.0.2.1/' }, '307 Temporary Redirect')],
  ['the whole object', head({}, '200 OK')],
  ['another range', head({ 'Content-Range': 'bytes 0-249999/300000' })],
  ['another length', head({ 'Content-Length': '249999' })],
  ['two lengths', head({ 'content-length': '1' })],
  ['chunks', head({ 'Transfer-Encoding': 'chunked' })],
  ['a compressed body', head({ 'Content-Encoding': 'gzip' })],
  ['a folded header', head({ 'X-Folded': '1\r\n 2' })],
  ['an endless head', head({ 'X-Long': 'x'.repeat(100_000) })],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
])('a response with %s writes nothing', async (_, answer) => {
  const { error, written } = await request((socket) => socket.write(answer + wanted.toString('latin1')));
  expect(error).toBeInstanceOf(Error);
  expect(written).toHaveLength(0);
});

test.each([
  ['that ends early', (socket: Socket) => socket.end(), 'the connection ended early'],
  ['that breaks off', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
  ['that stalls', () => undefined, 'no response for 0.2 s'],
])('a body %s fails after the bytes that arrived', async (_, stop, message) => {
  const { error, written } = await request((socket) => {
    socket.write(Buffer.concat([Buffer.from(head()), wanted.subarray(0, 1_000)]), () => {
      setTimeout(() => stop(socket), 50);
    });
  });
  expect(String(error)).toContain(message);
  expect(written.equals(wanted.subarray(0, 1_000))).toBe(true);
});

test('no response at all fails after the timeout of a call', async () => {
  const { error } = await request(() => undefined);
  expect(String(error)).toContain('no response for 0.5 s');
});

test('a head that never ends fails after the same timeout, although bytes arrive', async () => {
  const { error } = await request((socket) => {
    const timer = setInterval(() => socket.write('H'), 50);
    socket.once('close', () => clearInterval(timer));
  });
  expect(String(error)).toContain('no response for 0.5 s');
});

test('more bytes than requested fail', async () => {
  const { error } = await request((socket) =>
    socket.write(Buffer.concat([Buffer.from(head()), wanted, wanted])),
  );
  expect(String(error)).toContain('more bytes than requested');
});

test('a slow writer does not count as a stalled service', async () => {
  let writes = 0;
  const write = async () => {
    writes += 1;
    if (writes === 1) await new Promise((resolve) => setTimeout(resolve, 400));
  };
  const { error, written } = await request(
    (socket) => socket.end(Buffer.concat([Buffer.from(head()), wanted])),
    {
      write,
    },
  );
  expect([error, written.equals(wanted)]).toEqual([null, true]);
});

test('a failed write ends the request with its error', async () => {
  const failure = new Error('The client disconnected');
  const { error, written } = await request(
    (socket) => socket.write(Buffer.concat([Buffer.from(head()), wanted])),
    { write: () => Promise.reject(failure) },
  );
  expect([error, written.length]).toEqual([failure, 0]);
});
