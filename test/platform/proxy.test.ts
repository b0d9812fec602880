// cspell:ignore unstub -- a word of vitest
import { createServer, request as requestOf } from 'node:http';
import type { LookupFunction } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { Connections } from '../../shared/platform/http/connections.ts';
import { send } from '../../shared/platform/http/request.ts';
import { listen } from '../support/serve.ts';

afterEach(() => vi.unstubAllEnvs());

const addresses: Record<string, string> = { 'media.example': '93.184.215.14', 'inside.example': '10.0.0.7' };

/** Resolves as the DNS of a network with a proxy may: some names, and not others. */
const lookup: LookupFunction = (hostname, _options, callback) => {
  const address = addresses[hostname];
  if (address === undefined) callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
  else callback(null, [{ address, family: 4 }]);
};

/** Starts a forward proxy that sends every request to one server; `targets` are what clients asked it for. */
async function startProxy() {
  const origin = await listen(createServer((_request, response) => void response.end('the media file')));
  const targets: string[] = [];
  const server = createServer((incoming, outgoing) => {
    targets.push(incoming.url ?? '');
    const forwarded = requestOf(origin.origin, (response) => void response.pipe(outgoing));
    forwarded.end();
  });
  server.on('connect', (incoming, socket) => {
    targets.push(`CONNECT ${incoming.url ?? ''}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const proxy = await listen(server);
  onTestFinished(async () => {
    await proxy.close();
    await origin.close();
  });
  return { url: proxy.origin, targets };
}

function useConnections(): Connections {
  const connections = new Connections([], lookup);
  onTestFinished(() => connections.close());
  return connections;
}

const fetchOf = async (connections: Connections, url: string, owner: string | null = '') => {
  const signal = AbortSignal.timeout(10_000);
  const response = await send(new URL(url), { connections, owner, headers: {}, signal });
  return (await response.body.toArray()).join('');
};

test('HTTP_PROXY and HTTPS_PROXY carry outbound requests, also to names that only the proxy resolves', async () => {
  const proxy = await startProxy();
  vi.stubEnv('HTTP_PROXY', proxy.url);
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  const connections = useConnections();
  expect(await fetchOf(connections, 'http://media.example/a.png?b=1')).toBe('the media file');
  expect(await fetchOf(connections, 'http://elsewhere.example/c.png', null)).toBe('the media file');
  await expect(fetchOf(connections, 'https://media.example/d.png')).rejects.toThrow('media.example:443');
  expect(proxy.targets).toEqual([
    'http://media.example/a.png?b=1',
    'http://elsewhere.example/c.png',
    'CONNECT media.example:443',
  ]);
});

test.each(['http://127.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest', 'http://inside.example/'])(
  'the SSRF guard asks no proxy for %s',
  async (url) => {
    const proxy = await startProxy();
    vi.stubEnv('HTTP_PROXY', proxy.url);
    const connections = useConnections();
    await expect(fetchOf(connections, url)).rejects.toMatchObject({ reason: 'blocked_address' });
    await expect(fetchOf(connections, url, null)).rejects.toMatchObject({ reason: 'blocked_address' });
    expect(proxy.targets).toEqual([]);
  },
);

test('hosts in NO_PROXY are reached directly', async () => {
  const proxy = await startProxy();
  vi.stubEnv('HTTP_PROXY', proxy.url);
  vi.stubEnv('NO_PROXY', '.example');
  await expect(fetchOf(useConnections(), 'http://elsewhere.example/')).rejects.toThrow('ENOTFOUND');
  expect(proxy.targets).toEqual([]);
});
