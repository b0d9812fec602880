import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { mkdtempSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type {
  Http2SecureServer,
  Http2ServerResponse,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2';
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
let respondHttp1: (response: Http2ServerResponse) => void;
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
  respondHttp1 = (response) => response.end(text);
  offered = {};
  // Trusts the server's certificate; Node.js reads NODE_EXTRA_CA_CERTS only at its start.
  const { connect } = tls;
  vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) =>
    connect({ ...options, ...offered, ca: cert })) as typeof tls.connect);
  server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    if (request.httpVersion === '1.1') respondHttp1(response);
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
      timeoutSeconds: 0.5,
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

/** Holds responses until they are released. */
function holdResponses() {
  const held: ServerHttp2Stream[] = [];
  respond = (stream) => {
    held.push(stream);
    stream.once('close', () => held.splice(held.indexOf(stream), 1));
  };
  const release = () => [...held].forEach(sendText);
  return { held, release };
}

/** Waits until requests that could follow have arrived. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
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

  test('100 requests of an organization at once share a connection, and another’s have their own', async () => {
    downloader = create({ timeoutSeconds: 60 });
    const { held, release } = holdResponses();
    const many = Array.from({ length: 100 }, (_, index) => `/${index}`);
    const results = Promise.all(many.map((path) => download(path)));
    await vi.waitFor(() => expect(held.length).toBe(many.length));
    expect(sockets.length).toBe(1);
    respond = sendText;
    expect(await download('/other', 'b')).toMatchObject(expected);
    expect(sockets.length).toBe(2);
    release();
    expect(await results).toHaveLength(many.length);
  });

  test('requests whose connection breaks share the next one', async () => {
    downloader = create({ timeoutSeconds: 60 });
    await download('/first');
    const { held } = holdResponses();
    const results = Promise.all(manyPaths.map((path) => download(path)));
    await vi.waitFor(() => expect(held.length).toBe(manyPaths.length));
    respond = sendText;
    sockets[0]?.destroy();
    expect(await results).toHaveLength(manyPaths.length);
    expect(sockets.length).toBe(2);
  });

  test('a server that goes back to HTTP/1.1 gets no more requests at once than others', async () => {
    downloader = create({ timeoutSeconds: 60, concurrencyPerHost: 4 });
    await download('/first');
    offered = { ALPNProtocols: ['http/1.1'] };
    sockets[0]?.destroy();
    let [open, most] = [0, 0];
    respondHttp1 = (response) => {
      open += 1;
      most = Math.max(most, open);
      response.once('close', () => (open -= 1));
      setImmediate(() => response.end(text));
    };
    const paths = Array.from({ length: 100 }, (_, index) => `/${index}`);
    expect(await Promise.all(paths.map((path) => download(path)))).toHaveLength(paths.length);
    expect(most).toBeLessThanOrEqual(4);
  });

  test('requests that follow a closed connection share a new one', async () => {
    await download('/first');
    sockets[0]?.destroy();
    await settle();
    await Promise.all(manyPaths.map((path) => download(path)));
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

  test('requests without TLS to the same port leave the others with their one connection', async () => {
    const plain = { organizationId: 'b', mimeType: 'text/plain', maxBytes: 10_000 };
    const url = `http://127.0.0.1:${portOf(server)}/`;
    const rejected = failureOf(
      downloader.download({ ...plain, url, signal: new AbortController().signal }, collect),
    );
    await Promise.all(manyPaths.map((path) => download(path)));
    // Three attempts without TLS.
    await rejected;
    expect(sockets.length).toBe(1 + 3);
  });

  test('is not required of servers with TLS', async () => {
    offered = { ALPNProtocols: ['http/1.1'] };
    const results = await Promise.all(manyPaths.map((path) => download(path)));
    expect(results).toEqual(manyPaths.map(() => expect.objectContaining(expected) as unknown));
    expect(streams).toBe(0);
  });
});
