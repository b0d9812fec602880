import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateCredentials } from '../../shared/accounts/credentials.ts';
import { clientIp } from '../../api/http/client-ip.ts';
import { createRateLimit } from '../../api/http/middleware/rate-limit.ts';
import type { RateLimit } from '../../api/http/middleware/rate-limit.ts';
import { issueApiKey } from '../../shared/models/api-key.ts';
import { buildOrganization, exportPath } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { ask, expectFailure, jsonOf, notFound, unauthorized } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { useHarness, useStarted } from '../support/use.ts';

const harness = useHarness();
const tenant = useStarted(() => buildOrganization(harness));

/** An API with rate limit counts of its own. */
const startLimited = (perKey: number, perAddress: number, settings: Record<string, string> = {}) =>
  harness.startApi({
    RATE_LIMIT_PER_KEY: String(perKey),
    RATE_LIMIT_PER_ADDRESS: String(perAddress),
    ...settings,
  });

const unknownExport = exportPath({ lessonId: randomUUID(), _id: randomUUID() });
const progressPath = `/api/public/lessons/${randomUUID()}/progress/learner`;
const playerDataPath = `/api/public/lessons/${randomUUID()}/player-data?token=x`;

const limitHeaders = ({ headers }: Answer) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;

/** Returns the statuses of this many sequential requests. */
async function statuses(count: number, url: string, headers: Record<string, string> = {}) {
  const answers: number[] = [];
  for (let asked = 0; asked < count; asked += 1) answers.push((await ask(url, { headers })).status);
  return answers;
}

function wrongCredentials(): { authorization: string } {
  const { publicKey, secretKey } = generateCredentials();
  return { authorization: `Bearer ${publicKey}.${secretKey}` };
}

test('responses have standard RateLimit headers, and a key over its limit gets 429 as an export error', async () => {
  const address = await startLimited(2, 1);
  const first = await ask(address + unknownExport, { headers: tenant.headers });
  expectFailure(first, notFound);
  expect(limitHeaders(first)).toEqual(['"key";q=2;w=60', matching(/^"key";r=1;t=(60|59)$/)]);
  // Valid credentials do not count against their IP address.
  expect(await statuses(1, address + unknownExport, tenant.headers)).toEqual([404]);
  const rejected = await ask(address + unknownExport, { headers: tenant.headers });
  const seconds = Number(rejected.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  const message = `Too many requests; try again in ${seconds} seconds`;
  expectFailure(rejected, { status: 429, code: 'TOO_MANY_REQUESTS', error: 'Too Many Requests', message });
  expect(limitHeaders(rejected)).toEqual(['"key";q=2;w=60', `"key";r=0;t=${seconds}`]);
});

test('each key has its own count, even within an organization, and the count covers all endpoints', async () => {
  const address = await startLimited(2, 0);
  const other = await issueApiKey(harness.db, testPepper, {
    organizationId: tenant.organization._id,
    label: null,
    expiresAt: null,
  });
  const otherHeaders = { authorization: `Bearer ${other.publicKey}.${other.secretKey}` };
  expect(await statuses(1, address + progressPath, tenant.headers)).toEqual([404]);
  expect(await statuses(2, address + unknownExport, tenant.headers)).toEqual([404, 429]);
  expect(await statuses(3, address + unknownExport, otherHeaders)).toEqual([404, 404, 429]);
});

test('brute force is slowed: an address with too many failures gets 429 even with valid credentials', async () => {
  const address = await startLimited(10, 3);
  const failed = await ask(address + unknownExport, { headers: wrongCredentials() });
  expectFailure(failed, unauthorized);
  expect(limitHeaders(failed)).toEqual(['"address";q=3;w=60', matching(/^"address";r=2;t=\d+$/)]);
  // Missing and malformed credentials count as failures.
  expect(await statuses(1, address + unknownExport)).toEqual([401]);
  expect(await statuses(1, address + progressPath, { authorization: 'Bearer x' })).toEqual([401]);
  expect(await statuses(2, address + unknownExport, wrongCredentials())).toEqual([429, 429]);
  expect(await statuses(1, address + unknownExport, tenant.headers)).toEqual([429]);
});

test('concurrent guesses cannot exceed the limit', async () => {
  const address = await startLimited(0, 5);
  const guesses = Array.from({ length: 12 }, () =>
    ask(address + progressPath, { headers: wrongCredentials() }),
  );
  const answered = (await Promise.all(guesses)).map(({ status }) => status);
  expect(answered.filter((status) => status === 401)).toHaveLength(5);
  expect(answered.filter((status) => status === 429)).toHaveLength(7);
});

test('an address over its limit gets 429 before any database lookup', async () => {
  const address = await startLimited(0, 2);
  const database = harness.db.connection.db;
  await database?.command({ profile: 2 });
  const asked = await statuses(5, address + progressPath, wrongCredentials());
  await database?.command({ profile: 0 });
  expect(asked).toEqual([401, 401, 429, 429, 429]);
  const ns = `${database?.databaseName}.${harness.db.apiKeys.collection.name}`;
  expect(await database?.collection('system.profile').countDocuments({ ns })).toBe(2);
});

test('the limit also covers the password of the queue board', async () => {
  const admin = { ADMIN_USERNAME: 'operator', ADMIN_PASSWORD: 'a long, long password' };
  const board = `${await startLimited(0, 3, admin)}/admin/queues`;
  const good = { authorization: `Basic ${btoa('operator:a long, long password')}` };
  expect(await statuses(5, board, good)).toEqual(Array(5).fill(200));
  const wrong = { authorization: `Basic ${btoa('operator:a guess')}` };
  expect(await statuses(5, board, wrong)).toEqual([401, 401, 401, 429, 429]);
  expect(await statuses(1, board, good)).toEqual([429]);
});

test('player endpoints count requests by client address, and pages of every origin can read the 429', async () => {
  const address = await startLimited(0, 2);
  expect(await statuses(2, address + playerDataPath)).toEqual([401, 401]);
  const refused = await ask(address + playerDataPath, { headers: { origin: 'https://school.example' } });
  expect(refused.status).toBe(429);
  expect(Object.keys(jsonOf(refused) as object)).toEqual(['error']);
  expect(Object.fromEntries([...refused.headers].filter(([name]) => name.startsWith('access-')))).toEqual({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, OPTIONS',
    'access-control-allow-headers': 'Content-Type',
    'access-control-expose-headers': 'Retry-After, RateLimit, RateLimit-Policy, Error-Code',
  });
});

test('CORS preflight requests and health checks have no rate limit', async () => {
  const address = await startLimited(1, 1);
  expect(await statuses(2, address + playerDataPath)).toEqual([401, 429]);
  expect((await ask(address + playerDataPath, { method: 'OPTIONS' })).status).toBe(204);
  expect(await statuses(5, `${address}/health/live`)).toEqual(Array(5).fill(200));
  expect(limitHeaders(await ask(`${address}/health/ready`))).toEqual([null, null]);
});

test('0 turns a limit off, and its headers', async () => {
  const address = await startLimited(0, 0);
  for (const path of [unknownExport, playerDataPath]) {
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => ask(address + path, { headers: tenant.headers })),
    );
    for (const answer of answers) {
      expect(answer.status).toBeLessThan(429);
      expect(limitHeaders(answer)).toEqual([null, null]);
    }
  }
});

test('forged X-Forwarded-For values do not count, with or without a proxy', async () => {
  const forwarded = (value: string) => ({ 'x-forwarded-for': value });
  const direct = await startLimited(0, 1);
  expect(await statuses(1, direct + playerDataPath, forwarded('192.0.2.1'))).toEqual([401]);
  expect(await statuses(1, direct + playerDataPath, forwarded('192.0.2.2'))).toEqual([429]);

  // The proxy appends the address it saw to the existing list.
  const proxied = await startLimited(0, 1, { TRUST_PROXY: '1' });
  expect(await statuses(1, proxied + playerDataPath, forwarded('198.51.100.1, 192.0.2.1'))).toEqual([401]);
  expect(await statuses(1, proxied + playerDataPath, forwarded('198.51.100.2, 192.0.2.1'))).toEqual([429]);
  expect(await statuses(1, proxied + playerDataPath, forwarded('198.51.100.1, 192.0.2.2'))).toEqual([401]);
});

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
