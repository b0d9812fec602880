import { expect, test } from 'vitest';
import { clientIp } from '../../api/http/client-ip.ts';
import { createRateLimit } from '../../api/http/middleware/rate-limit.ts';
import type { RateLimit } from '../../api/http/middleware/rate-limit.ts';

/** Returns the rate limit headers for a request with this key. */
async function count(limit: RateLimit, key: string): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  await limit.count({ set: (name, value) => (headers[name] = value) }, key);
  return headers;
}

const remaining = async (limit: RateLimit, key: string) =>
  /r=(\d+)/.exec((await count(limit, key)).RateLimit ?? '')?.[1];

const addressOf = (ip: string, remoteAddress?: string) =>
  clientIp({ ip, req: { socket: { remoteAddress } } } as Parameters<typeof clientIp>[0]);

test('the limiter remembers only the newest keys', async () => {
  const limit = createRateLimit('address', 5, 100);
  for (let key = 0; key < 1_000; key += 1) await count(limit, `key-${key}`);
  expect(await remaining(limit, 'key-999')).toBe('3');
  expect(await remaining(limit, 'key-0')).toBe('4');
});

test('a busy key stays remembered while other keys come and go', async () => {
  const limit = createRateLimit('address', 50, 10);
  for (let key = 0; key < 40; key += 1) {
    await count(limit, 'the eager');
    await count(limit, `key-${key}`);
  }
  expect(await remaining(limit, 'the eager')).toBe('9');
});

test.each([
  ['an IPv4 address', '192.0.2.1', '192.0.2.1'],
  ['the same, as a server that listens on both families sees it', '::ffff:192.0.2.1', '192.0.2.1'],
  ['with the port that some proxies add', '192.0.2.1:4711', '192.0.2.1'],
  ['an IPv6 address, by its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['another address in the same network', '2001:DB8:1:2::1', '2001:db8:1:2::/64'],
  ['an IPv6 address with a port', '[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
  ['an IPv6 address with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s counts as %s', (_what, ip, counted) => {
  expect(addressOf(ip)).toBe(counted);
});

test("where a proxy forwards no address, the proxy's own address counts", () => {
  expect(addressOf('unknown', '203.0.113.1')).toBe('203.0.113.1');
  expect(addressOf('', undefined)).toBe('unknown');
});
