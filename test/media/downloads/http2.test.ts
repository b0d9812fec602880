import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import type { Downloader } from '../../../shared/media/downloads/downloader.ts';
import { createCertificate } from '../../support/certificate.ts';
import type { Certificate } from '../../support/certificate.ts';
import { collect, failureOf, text } from './downloads.ts';

let certificate: Certificate | null = null;
try {
  certificate = createCertificate(mkdtempSync(join(inject('runDir'), 'certificate-')));
} catch {
  // The tests skip themselves.
}
const { key, cert } = certificate ?? {};

let server: Http2SecureServer;
let sockets: Socket[];
let sessions: ServerHttp2Session[];
let streams: number;
let respond: (stream: ServerHttp2Stream) => void;
let downloader: Downloader;
/** What the client offers instead of its own protocols. */
let offered: { ALPNProtocols?: string[] };

beforeEach(async () => {
  sockets = [];
  sessions = [];
  streams = 0;
  respond = sendText;
  offered = {};
  // Trusts the server's certificate; Node.js reads NODE_EXTRA_CA_CERTS only at its start.
  const { connect } = tls;
  vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) =>
    connect({ ...options, ...offered, ca: cert })) as typeof tls.connect);
  server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    if (request.httpVersion === '1.1') response.end(text);
  });
  server.on('connection', (socket: Socket) => sockets.push(socket));
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream) => {
    streams += 1;
    stream.on('error', () => undefined);
    respond(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  downloader = createDownloader(
    {
      maxBytes: 1,
      concurrency: 1,
      concurrencyPerHost: 16,
      timeoutSeconds: 0.5,
      minBytesPerSecond: 0,
      deadlineSeconds: 60,
      allowedPrivateHosts: [`127.0.0.1:${portOf(server)}`],
    },
    { pause: () => Promise.resolve() },
  );
});

afterEach(async () => {
  downloader.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

function portOf(started: Http2SecureServer): number {
  return (started.address() as AddressInfo).port;
}

function download(path: string) {
  const request = { organizationId: 'a', mimeType: 'text/vtt', maxBytes: 10_000 };
  const url = `https://127.0.0.1:${portOf(server)}${path}`;
  return downloader.download({ ...request, url, signal: new AbortController().signal }, collect);
}

const expected = { modified: true, stored: text };
const manyPaths = Array.from({ length: 30 }, (_, index) => `/${index}`);

function sendText(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'text/vtt', 'content-length': text.length });
  stream.end(text);
}

/** Sends the headers and a part of the body. */
function sendPart(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-length': text.length });
  stream.write(text.subarray(0, 10));
}

const title = certificate === null ? 'HTTP/2, SKIPPED: this machine has no openssl' : 'HTTP/2';

describe.skipIf(certificate === null)(title, () => {
  test('carries concurrent downloads over one connection, also the first ones', async () => {
    const results = await Promise.all(manyPaths.map(download));
    expect(results).toEqual(manyPaths.map(() => expect.objectContaining(expected) as unknown));
    expect([sockets.length, streams]).toEqual([1, manyPaths.length]);
  });

  test.each<[string, typeof respond, string]>([
    ['resets each stream', (stream) => stream.close(2), 'network'],
    [
      'resets streams within a body',
      (stream) => {
        sendPart(stream);
        stream.close(2);
      },
      'truncated',
    ],
    [
      'sends less than it announced',
      (stream) => {
        sendPart(stream);
        stream.end();
      },
      'truncated',
    ],
    [
      'sends more than is allowed',
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.end(Buffer.alloc(20_000, 'x'));
      },
      'too_large',
    ],
    [
      'is overloaded',
      (stream) => {
        stream.respond({ ':status': 503 });
        stream.end();
      },
      'server_error',
    ],
    ['never responds', () => undefined, 'timeout'],
    ['sends nothing after the first bytes', sendPart, 'timeout'],
    ['sends GOAWAY', ({ session }) => session?.goaway(2), 'network'],
    ['destroys its session', ({ session }) => session?.destroy(), 'network'],
    ['resets its connection', () => sockets.at(-1)?.resetAndDestroy(), 'network'],
    [
      'breaks off its connection within a body',
      (stream) => {
        sendPart(stream);
        setImmediate(() => sockets.at(-1)?.destroy());
      },
      'truncated',
    ],
  ])(
    'a server that %s fails a download with its reason, and no later ones',
    async (_title, behavior, reason) => {
      respond = behavior;
      expect((await failureOf(download('/a'))).reason).toBe(reason);
      respond = sendText;
      expect(await download('/a')).toMatchObject(expected);
    },
  );

  test.each<[string, () => void]>([
    ['closes', () => sessions[0]?.close()],
    ['sends GOAWAY and closes', () => sessions[0]?.destroy()],
    ['ends', () => sockets[0]?.end()],
    ['resets', () => sockets[0]?.resetAndDestroy()],
  ])('a server that %s an unused connection delays no download', async (_title, close) => {
    await download('/a');
    close();
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
    expect(await download('/b')).toMatchObject(expected);
    expect(sockets.length).toBe(2);
  });

  test('is not required of servers with TLS', async () => {
    offered = { ALPNProtocols: ['http/1.1'] };
    const results = await Promise.all(manyPaths.map(download));
    expect(results).toEqual(manyPaths.map(() => expect.objectContaining(expected) as unknown));
    expect(streams).toBe(0);
  });
});
