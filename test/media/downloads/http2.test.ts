import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { mkdtempSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import type { Downloader } from '../../../shared/media/downloads/downloader.ts';
import type { Config } from '../../../shared/platform/config.ts';
import { createCertificate } from '../../support/certificate.ts';
import type { Certificate } from '../../support/certificate.ts';
import { findDebianProgram } from '../../support/debian-programs.ts';
import { startNginx } from '../../support/nginx.ts';
import { collect, failureOf, text } from './downloads.ts';

const folder = mkdtempSync(join(inject('runDir'), 'certificate-'));
let certificate: Certificate | null = null;
try {
  certificate = createCertificate(folder);
} catch {
  // The tests skip themselves.
}
const { key, cert } = certificate ?? {};

const nginxProgram = await findDebianProgram('nginx', inject('cacheDir'));

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
  downloader = create();
});

afterEach(async () => {
  downloader.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

function create(settings: Partial<Config['download']> = {}): Downloader {
  return createDownloader(
    {
      maxBytes: 1,
      concurrency: 100,
      concurrencyPerHost: 16,
      timeoutSeconds: 60,
      minBytesPerSecond: 0,
      deadlineSeconds: 60,
      allowedPrivateHosts: [`127.0.0.1:${portOf(server)}`],
      ...settings,
    },
    { pause: () => Promise.resolve() },
  );
}

function portOf(started: Http2SecureServer): number {
  return (started.address() as AddressInfo).port;
}

function download(path: string, organizationId = 'a') {
  const request = { organizationId, mimeType: 'text/plain', maxBytes: 10_000 };
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
    const results = await Promise.all(manyPaths.map((path) => download(path)));
    expect(results).toEqual(manyPaths.map(() => expect.objectContaining(expected) as unknown));
    expect([sockets.length, streams]).toEqual([1, manyPaths.length]);
  });

  test.each<[string, typeof respond, string]>([
    ['resets each stream', (stream) => stream.close(2), 'network'],
    [
      'sends less than it announced',
      (stream) => {
        sendPart(stream);
        stream.end();
      },
      'truncated',
    ],
    ['never responds', () => undefined, 'timeout'],
    ['sends GOAWAY', ({ session }) => session?.goaway(2), 'network'],
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
      if (reason === 'timeout') {
        downloader.close();
        downloader = create({ timeoutSeconds: 1 });
      }
      respond = behavior;
      expect((await failureOf(download('/a'))).reason).toBe(reason);
      respond = sendText;
      expect(await download('/a')).toMatchObject(expected);
    },
  );

  test.each<[string, () => void]>([
    ['closes', () => sessions[0]?.close()],
    ['ends', () => sockets[0]?.end()],
  ])('a server that %s an unused connection delays no download', async (_title, close) => {
    await download('/a');
    close();
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
    expect(await download('/b')).toMatchObject(expected);
    expect(sockets.length).toBe(2);
  });

  test.skipIf(nginxProgram === null)(
    '3,000 files arrive from an nginx that closes each connection after 1,000 requests',
    async () => {
      const body = Buffer.from('WEBVTT and no more');
      const nginx = await startNginx(
        nginxProgram ?? '',
        (port) => `access_log ${folder}/access.log;
        server {
          listen 127.0.0.1:${port} ssl http2;
          ssl_certificate ${folder}/cert.pem;
          ssl_certificate_key ${folder}/key.pem;
          location / { default_type text/vtt; return 200 '${body.toString()}'; }
        }`,
      );
      onTestFinished(() => nginx.stop());
      const host = new URL(nginx.url).host;
      downloader = create({ timeoutSeconds: 60, allowedPrivateHosts: [host] });
      const request = { organizationId: 'a', mimeType: 'text/plain', maxBytes: 10_000 };
      const { signal } = new AbortController();
      const paths = Array.from({ length: 3000 }, (_, index) => `https://${host}/${index}`);
      const results = await Promise.all(
        paths.map((url) => downloader.download({ ...request, url, signal }, collect)),
      );
      expect(results.filter((result) => result.modified && result.stored.equals(body))).toHaveLength(3000);
      const requests = (await readFile(join(folder, 'access.log'), 'utf8')).trim().split('\n');
      expect(requests.filter((line) => line.includes('HTTP/2.0')).length).toBeGreaterThanOrEqual(3000);
    },
  );

  test('is not required of servers with TLS', async () => {
    offered = { ALPNProtocols: ['http/1.1'] };
    const results = await Promise.all(manyPaths.map((path) => download(path)));
    expect(results).toEqual(manyPaths.map(() => expect.objectContaining(expected) as unknown));
    expect(streams).toBe(0);
  });
});
