import { once, setMaxListeners } from 'node:events';
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
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import type { Downloader } from '../../../shared/media/downloads/downloader.ts';
import type { Config } from '../../../shared/platform/config.ts';
import { Connections } from '../../../shared/platform/http/connections.ts';
import { send } from '../../../shared/platform/http/request.ts';
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
      concurrency: 1,
      concurrencyPerHost: 16,
      streamsPerHost: 64,
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

function download(path: string) {
  const request = { organizationId: 'a', mimeType: 'text/plain', maxBytes: 10_000 };
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

  test('begins with 16 requests at once, and doubles them while the host keeps up, to one less than the limit', async () => {
    // Every response takes equally long.
    vi.spyOn(performance, 'now').mockReturnValue(0);
    downloader = create({ timeoutSeconds: 60 });
    await download('/first');
    const { held, release } = holdResponses();
    const paths = Array.from({ length: 16 + 32 + 63 + 63 + 1 }, (_, index) => `/${index}`);
    const results = Promise.all(paths.map(download));
    for (const wave of [16, 32, 63, 63, 1]) {
      await vi.waitFor(() => expect(held.length).toBe(wave), { timeout: 20_000 });
      await settle();
      expect(held.length).toBe(wave);
      release();
    }
    expect(await results).toHaveLength(paths.length);
    expect(sockets.length).toBe(1);
  });

  test.each([
    ['no more than it announces', 3, 3],
    ['one, if it announces zero', 0, 1],
    ['any number, if it announces none', undefined, 2 ** 32 - 1],
  ])('a host is said to accept %s', async (_title, announced, accepted) => {
    server.updateSettings(announced === undefined ? {} : { maxConcurrentStreams: announced });
    const host = `127.0.0.1:${portOf(server)}`;
    const connections = new Connections([host]);
    expect(connections.streamsOf(host)).toBe(null);
    const { signal } = new AbortController();
    const sent = send(new URL(`https://${host}/a`), {
      connections,
      useNewConnection: false,
      headers: {},
      signal,
    });
    sent.catch(() => undefined);
    await vi.waitFor(() => expect(connections.streamsOf(host)).toBe(accepted));
    connections.close();
  });

  test('a connection that breaks is not followed by a new one for each retry', async () => {
    downloader = create({ timeoutSeconds: 60, concurrencyPerHost: 3 });
    await download('/first');
    const { held, release } = holdResponses();
    const results = Promise.all(manyPaths.slice(0, 20).map(download));
    await vi.waitFor(() => expect(held.length).toBe(16));
    sockets[0]?.destroy();
    // Four first attempts share a connection, and two of sixteen retries have others.
    await vi.waitFor(() => expect(held.length).toBe(4 + 2));
    await settle();
    expect([held.length, sockets.length]).toEqual([4 + 2, 1 + 1 + 2]);
    respond = sendText;
    release();
    expect(await results).toHaveLength(20);
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
    expect(await Promise.all(paths.map(download))).toHaveLength(paths.length);
    expect(most).toBeLessThanOrEqual(4);
  });

  test('requests that follow a closed connection share a new one', async () => {
    await download('/first');
    sockets[0]?.destroy();
    await settle();
    await Promise.all(manyPaths.map(download));
    expect(sockets.length).toBe(2);
  });

  describe('requests to more hosts than connections are kept for', () => {
    let connections: Connections;
    const { signal } = new AbortController();
    setMaxListeners(0, signal);

    beforeEach(() => (connections = new Connections([`127.0.0.1:${portOf(server)}`])));
    afterEach(() => connections.close());

    const get = async (path: string) => {
      const url = new URL(`https://127.0.0.1:${portOf(server)}${path}`);
      const { status, body } = await send(url, { connections, useNewConnection: false, headers: {}, signal });
      await body.resume().toArray();
      return status;
    };
    const requestOthers = async () => {
      const others = Array.from({ length: 300 }, (_, index) => new URL(`http://host-${index}.example/`));
      for (const url of others) await connections.keptFor(url, signal);
    };

    test('fail no request that waits for its connection', async () => {
      const statuses = Promise.all(['/a', '/b', '/c'].map(get));
      await requestOthers();
      expect(await statuses).toEqual([200, 200, 200]);
    });

    test('let requests to a host share its next connection', async () => {
      const { held, release } = holdResponses();
      const first = get('/first');
      await vi.waitFor(() => expect(held.length).toBe(1));
      await requestOthers();
      const statuses = Promise.all(manyPaths.map(get));
      await vi.waitFor(() => expect(held.length).toBe(1 + manyPaths.length));
      expect(sockets.length).toBe(2);
      release();
      expect(new Set([await first, ...(await statuses)])).toEqual(new Set([200]));
    });
  });

  test('a connection is replaced before the thousand requests after which nginx would close it', async () => {
    downloader = create({ timeoutSeconds: 60 });
    const perSession = new Map<unknown, number>();
    respond = (stream) => {
      perSession.set(stream.session, (perSession.get(stream.session) ?? 0) + 1);
      sendText(stream);
    };
    const paths = Array.from({ length: 2_000 }, (_, index) => `/${index}`);
    expect(await Promise.all(paths.map(download))).toHaveLength(paths.length);
    expect([...perSession.values()].map((requests) => requests < 1_000)).toEqual([true, true, true]);
  });

  test('requests without TLS to the same port leave the others with their one connection', async () => {
    const plain = { organizationId: 'b', mimeType: 'text/plain', maxBytes: 10_000 };
    const url = `http://127.0.0.1:${portOf(server)}/`;
    const rejected = failureOf(
      downloader.download({ ...plain, url, signal: new AbortController().signal }, collect),
    );
    await Promise.all(manyPaths.map(download));
    // Three attempts without TLS.
    await rejected;
    expect(sockets.length).toBe(1 + 3);
  });

  test('is not required of servers with TLS', async () => {
    offered = { ALPNProtocols: ['http/1.1'] };
    const results = await Promise.all(manyPaths.map(download));
    expect(results).toEqual(manyPaths.map(() => expect.objectContaining(expected) as unknown));
    expect(streams).toBe(0);
  });
});
