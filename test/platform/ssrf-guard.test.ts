import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hostOf, isPublicAddress, publicOnly } from '../../shared/platform/http/ssrf-guard.ts';
import { createDownloader, DownloadError } from '../../shared/media/downloads/downloader.ts';
import { file, type Origin, redirectTo, startOrigin } from '../support/origin.ts';

let origin: Origin;
let asked: string[];

beforeEach(async () => {
  origin = await startOrigin();
  origin.script('/', file('secret'));
  asked = [];
});

afterEach(() => origin.close());

/** A name server that resolves every name to these addresses, synchronously or later. */
function nameServer(addresses: string[], when: 'sync' | 'async' = 'async'): LookupFunction {
  const found: LookupAddress[] = addresses.map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
  return (name, options, callback) => {
    asked.push(name);
    const reply = () => {
      if (options.all === true) callback(null, found);
      else callback(null, found[0]?.address ?? '', found[0]?.family);
    };
    if (when === 'sync') reply();
    else setImmediate(reply);
  };
}

interface Settings {
  allowed?: string[];
  lookup?: LookupFunction;
}

async function reasonFor(
  url: string,
  { allowed = [], lookup = nameServer([]) }: Settings = {},
): Promise<string> {
  const downloader = createDownloader(
    {
      maxBytes: 1,
      concurrency: 1,
      concurrencyPerHost: 1,
      timeoutSeconds: 5,
      minBytesPerSecond: 0,
      deadlineSeconds: 60,
      allowedPrivateHosts: allowed,
    },
    { lookup, pause: () => Promise.resolve() },
  );
  const signal = new AbortController().signal;
  try {
    await downloader.download(
      { url, organizationId: 'a', mimeType: 'text/plain', maxBytes: 1000, signal },
      async (body) => {
        for await (const chunk of body) expect(chunk.length).toBeGreaterThan(0);
      },
    );
    return 'stored';
  } catch (error) {
    if (error instanceof DownloadError) return error.reason;
    throw error;
  } finally {
    downloader.close();
  }
}

/** Replaces PORT with the origin's port. */
const here = (url: string) => url.replace('PORT', origin.host.split(':')[1] ?? '');

describe('an address that is not public', () => {
  test.each([
    ['loopback', 'http://127.0.0.1:PORT/'],
    ['loopback, decimal', 'http://2130706433:PORT/'],
    ['loopback, hexadecimal', 'http://0x7f000001:PORT/'],
    ['loopback, octal', 'http://017700000001:PORT/'],
    ['loopback, escaped', 'http://%31%32%37.0.0.1:PORT/'],
    ['this host', 'http://0.0.0.0:PORT/'],
    ['this network', 'http://0.1.2.3/'],
    ['private, 10/8', 'http://10.0.0.1/'],
    ['private, 172.16/12', 'http://172.31.255.255/'],
    ['private, 192.168/16', 'https://192.168.0.1/'],
    ['carrier-grade NAT', 'http://100.64.0.1/'],
    ['cloud metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['the host of a virtual machine, a third cloud', 'http://168.63.129.16/'],
    ['the same, mapped to IPv6', 'http://[::ffff:a83f:8110]/'],
    ['multicast', 'http://224.0.0.1/'],
    ['broadcast', 'http://255.255.255.255/'],
    ['IPv6 loopback', 'http://[::1]:PORT/'],
    ['IPv6 unspecified', 'http://[::]:PORT/'],
    ['IPv4-mapped loopback', 'http://[::ffff:127.0.0.1]:PORT/'],
    ['IPv4-mapped metadata', 'http://[::ffff:a9fe:a9fe]/'],
    ['IPv4-compatible loopback', 'http://[::127.0.0.1]:PORT/'],
    ['IPv4-translated loopback', 'http://[::ffff:0:7f00:1]/'],
    ['NAT64 of loopback', 'http://[64:ff9b::7f00:1]/'],
    ['local NAT64 of metadata', 'http://[64:ff9b:1::a9fe:a9fe]/'],
    ['6to4 of loopback', 'http://[2002:7f00:1::]/'],
    ['Teredo', 'http://[2001:0:53aa:64c:0:fbff:80ff:fffe]/'],
    ['IPv6 documentation', 'http://[2001:db8::1]/'],
    ['IPv6 documentation, the newer', 'http://[3fff::1]/'],
    ['IPv6 link-local', 'http://[fe80::1]/'],
    ['IPv6 site-local', 'http://[fec0::1]/'],
    ['IPv6 multicast', 'http://[ff02::1]/'],
  ])('%s is rejected without a lookup or a connection', async (_title, url) => {
    expect(await reasonFor(here(url))).toBe('blocked_address');
    expect(asked).toEqual([]);
    expect(origin.connections.total).toBe(0);
  });

  test.each([
    ['loopback', ['127.0.0.1']],
    ['IPv6 loopback', ['::1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['a public address and a private one', ['93.184.215.14', '127.0.0.1']],
    ['a name instead of an address', ['elsewhere.test']],
  ])('behind a name with %s is rejected, whenever the name server responds', async (_title, addresses) => {
    for (const when of ['sync', 'async'] as const) {
      for (const protocol of ['http', 'https']) {
        const lookup = nameServer(addresses, when);
        expect(await reasonFor(here(`${protocol}://name.test:PORT/`), { lookup })).toBe('blocked_address');
      }
    }
    expect(asked).toEqual(Array(4).fill('name.test'));
    expect(origin.connections.total).toBe(0);
  });

  test('behind localhost and similar names is rejected', async () => {
    const lookup = nameServer(['127.0.0.1']);
    for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '127.0.0.1.nip.test']) {
      expect(await reasonFor(here(`http://${name}:PORT/`), { lookup })).toBe('blocked_address');
    }
    expect(origin.connections.total).toBe(0);
  });

  test('behind a name that first resolved to a public address is rejected (DNS rebinding)', async () => {
    const answers = [['93.184.215.14', '10.0.0.1'], ['127.0.0.1']];
    const lookup: LookupFunction = (name, options, callback) =>
      nameServer(answers.shift() ?? [], 'sync')(name, options, callback);
    for (let i = 0; i < 2; i++) {
      expect(await reasonFor(here('http://rebind.test:PORT/'), { lookup })).toBe('blocked_address');
    }
    expect(asked).toHaveLength(2);
  });
});

test.each([
  ['a file', 'file:///etc/passwd'],
  ['data', 'data:text/plain,hello'],
  ['FTP', 'ftp://example.org/a'],
  ['a path', '/media/a.png'],
  ['an invalid host', 'http://[::1'],
  ['a user', 'http://user@example.org/'],
  ['a user and a password', 'http://user:password@example.org/'],
])('%s is not requested', async (_title, url) => {
  expect(await reasonFor(url)).toBe('blocked_address');
  expect(asked).toEqual([]);
});

describe('an allowed private host', () => {
  test('is allowed with exactly the configured host and port', async () => {
    expect(await reasonFor(here('http://127.0.0.1:PORT/'), { allowed: [origin.host] })).toBe('stored');
    for (const url of [
      'http://127.0.0.2:PORT/',
      'http://localhost:PORT/',
      'http://[::ffff:127.0.0.1]:PORT/',
    ]) {
      const lookup = nameServer(['127.0.0.1']);
      expect(await reasonFor(here(url), { allowed: [origin.host], lookup })).toBe('blocked_address');
    }
    expect(await reasonFor('http://127.0.0.1/', { allowed: [origin.host] })).toBe('blocked_address');
  });

  test('may be a name', async () => {
    const settings = { allowed: [here('media.test:PORT')], lookup: nameServer(['127.0.0.1']) };
    expect(await reasonFor(here('http://Media.Test:PORT/'), settings)).toBe('stored');
    expect(await reasonFor(here('http://other.test:PORT/'), settings)).toBe('blocked_address');
  });

  test('may not redirect to its other ports', async () => {
    const inner = await startOrigin();
    inner.script('/', file('secret'));
    origin.script('/', redirectTo(inner.url('/')));
    expect(await reasonFor(origin.url('/'), { allowed: [origin.host] })).toBe('blocked_address');
    expect(inner.connections.total).toBe(0);
    expect(await reasonFor(origin.url('/'), { allowed: [origin.host, inner.host] })).toBe('stored');
    await inner.close();
  });

  test.each([
    ['metadata', 'http://169.254.169.254/'],
    ['loopback spelled differently', 'http://2130706433:1/'],
    ['a protocol that is not fetched', 'gopher://127.0.0.1/'],
  ])('may not redirect to %s', async (_title, target) => {
    origin.script('/', redirectTo(target));
    expect(await reasonFor(origin.url('/'), { allowed: [origin.host] })).toBe('blocked_address');
    expect(origin.requests('/')).toBe(1);
  });

  test('may not redirect to a name with a private address', async () => {
    origin.script('/', redirectTo(here('http://inner.test:PORT/b')));
    const settings = { allowed: [origin.host], lookup: nameServer(['127.0.0.1']) };
    expect(await reasonFor(origin.url('/'), settings)).toBe('blocked_address');
    expect(origin.requests('/b')).toBe(0);
  });
});

describe('a host', () => {
  test.each([
    ['http://Example.ORG/a', 'example.org:80'],
    ['https://example.org', 'example.org:443'],
    ['http://example.org:443', 'example.org:443'],
    ['https://example.org:8443', 'example.org:8443'],
    ['http://[0:0::1]:8080', '[::1]:8080'],
    ['http://127.1', '127.0.0.1:80'],
  ])('in the URL %s is %s', (url, expected) => {
    expect(hostOf(new URL(url))).toBe(expected);
  });

  test.each([
    '93.184.215.14',
    '1.1.1.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    [
      true,
      [
        [
          { address: '93.184.215.14', family: 4 },
          { address: '2606:4700:4700::1111', family: 6 },
        ],
        undefined,
      ],
    ],
    [false, ['93.184.215.14', 4]],
  ])('with only public addresses is returned unchanged (all: %s)', (all, found) => {
    const seen: unknown[] = [];
    const lookup = publicOnly(nameServer(['93.184.215.14', '2606:4700:4700::1111'], 'sync'));
    lookup('name.test', { all }, (...answer) => seen.push(answer));
    expect(seen).toEqual([[null, ...found]]);
  });

  test('that does not resolve is a network error, not a blocked address', async () => {
    // Like Node's own lookup, which passes no list with an error.
    const lookup = ((_name: string, _options: unknown, callback: (error: Error) => void) =>
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))) as LookupFunction;
    expect(await reasonFor('http://nowhere.test/', { lookup })).toBe('network');
  });
});
