// cspell:ignore unstub -- a word of vitest
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Connections } from '../../shared/platform/http/connections.ts';
import { send } from '../../shared/platform/http/request.ts';

/** Starts a server that answers each request with these bytes, in pieces; `requests` are the heads that it got. */
async function startServer(...answers: (string | string[])[]) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      requests.push(bytes.toString('latin1'));
      void sendPieces(socket, [answers[(requests.length - 1) % answers.length] ?? ''].flat());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connections = new Connections([host], undefined, 1);
  onTestFinished(() => {
    connections.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const fetchText = async (headers = {}, owner: string | null = '') => {
    const signal = AbortSignal.timeout(10_000);
    const response = await send(new URL(`http://${host}/`), {
      connections,
      owner,
      headers,
      signal,
    });
    const body = (await response.body.toArray()).join('');
    return { status: response.status, link: response.header('link'), body };
  };
  return { fetchText, host, requests, connectionCount: () => sockets.size };
}

/** The client has read a piece before the next one is sent. */
async function sendPieces(socket: Socket, pieces: string[]): Promise<void> {
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, 'latin1', () => setImmediate(resolve)));
  }
}

const final = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';
const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n';
const processing = 'HTTP/1.1 102 Processing\r\n\r\n';

test.each<[title: string, answer: string | string[]]>([
  ['100', goOn + final('the file')],
  ['100 in one piece, and the rest later', [goOn, final('the file')]],
  ['100 in single bytes', [...(goOn + final('the file'))]],
  ['103, 100 and 102', hints + goOn + processing + final('the file')],
  [
    '103 with a head that ends later',
    [hints.slice(0, 40), hints.slice(40) + goOn.slice(0, 5), goOn.slice(5), final('the file')],
  ],
  ['100 of HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\n${final('the file')}`],
  ['sixteen of them', goOn.repeat(16) + final('the file')],
])('interim responses are left out, also on a kept connection: %s', async (_title, answer) => {
  const { fetchText, connectionCount } = await startServer(answer, final('a plain one'));
  const expected = { status: 200, link: null, body: 'the file' };
  expect(await fetchText()).toEqual(expected);
  expect(await fetchText()).toMatchObject({ body: 'a plain one' });
  expect(await fetchText()).toEqual(expected);
  expect(connectionCount()).toBe(1);
  expect(await fetchText({}, null)).toMatchObject({ body: 'a plain one' });
  expect(await fetchText({}, null)).toEqual(expected);
});

test.each<[title: string, answer: string]>([
  ['more than sixteen of them', goOn.repeat(17) + final('x')],
  ['one that never ends', `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(20_000)}`],
])('interim responses have limits: %s', async (_title, answer) => {
  const { fetchText } = await startServer(answer);
  await expect(fetchText()).rejects.toThrow('ERR_INTERIM_RESPONSES');
});

test('each header is sent once, whatever the case of its name', async () => {
  const { fetchText, requests } = await startServer(final(''));
  await fetchText({ 'User-Agent': 'Lectern-Test/1', ACCEPT: 'application/json', 'Accept-Encoding': 'gzip' });
  const names = (requests[0] ?? '').split('\r\n').map((line) => line.split(':')[0]?.toLowerCase());
  expect(names.filter((name) => name === 'user-agent' || name?.startsWith('accept'))).toEqual([
    'accept',
    'user-agent',
    'accept-encoding',
  ]);
  expect(requests[0]).toMatch(/user-agent: Lectern-Test\/1\r\n/i);
  expect(requests[0]).toMatch(/accept: application\/json\r\n/i);
});
