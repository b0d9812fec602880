import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask } from '../support/answers.ts';
import { expectAllSane, hostileCases, requestsOf, sixthOf } from './hostile.ts';
import type { RequestOfCase } from './hostile.ts';
import { endpoints, requestOf } from './isolation-table.ts';
import type { Caller } from './isolation-table.ts';
import { buildTenant } from '../support/tenants.ts';
import type { Tenant } from '../support/tenants.ts';

let harness: Harness;
let address: string;
let tenant: Tenant;
let requestOfCase: RequestOfCase;

beforeAll(async () => {
  harness = await startHarness({ RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PER_ADDRESS: '0' });
  address = await harness.startApi();
  await harness.startWorker();
  tenant = await buildTenant(harness, address);
  requestOfCase = await requestsOf(address, tenant);
});
afterAll(() => harness.close());

const every: Caller[] = ['bearer', 'session', 'embed', 'pinned', 'launch', 'anyone'];
const guarded = Object.entries(endpoints).filter(([, { callers }]) => !callers.includes('anyone'));

test.each(guarded)('%s accepts only its own kind of credentials', async (_name, endpoint) => {
  for (const caller of every.filter((one) => !endpoint.callers.includes(one))) {
    const { path, options } = requestOf(endpoint, caller, tenant, tenant.ids);
    const { status, body } = await ask(address + path, options);
    // Without a token an embed page contains no lesson and waits for a token.
    const isWaiting = path.startsWith('/embed/') && body.includes('"page":"waiting"');
    const refusals = isWaiting ? [200] : [400, 401];
    expect({ caller, status }).toEqual({ caller, status: expect.toBeOneOf(refusals) as number });
  }
});

const basic = (text: string) => `Basic ${btoa(text)}`;
const authorizations = [
  ...[
    '',
    'Bearer',
    'Bearer ',
    'Bearer .',
    'Bearer a.b',
    'Bearer \xff\xfe.\xff',
    'Bearer %00.%00',
    'Bearer {}',
  ],
  ...[
    `Bearer lkp_${'0'.repeat(24)}.lks_${'0'.repeat(43)}`,
    `Bearer lkp_${'0'.repeat(24)}.`,
    'Bearer $ne.$ne',
  ],
  ...[
    'Bearer __proto__.constructor',
    'Bearer eyJhbGciOiJub25lIn0.e30.',
    'Negotiate',
    'Digest username="\xff',
  ],
  ...['Basic', 'Basic \xff', basic('operator:'), basic(':'), basic('\0:\0'), basic(':'.repeat(5000))],
  ...[`Bearer ${'a'.repeat(15_000)}`, `Bearer${' '.repeat(15_000)}x`, `Bearer ${'a.'.repeat(7000)}`],
];

const cookies = [
  ...['', '=', ';', ';;;;', 'lectern', 'lectern=', '=lectern', 'lectern="', 'lectern=\xff; lectern.sig=\xff'],
  ...['lectern=a', 'lectern=a; lectern.sig=b', 'lectern.sig=b', 'lectern.sig=b; lectern.sig=c; lectern=a'],
  ...['lectern=%00; lectern.sig=%00', 'lectern=%; lectern.sig=%', 'lectern={"$ne":null}; lectern.sig=[]'],
  ...['__proto__=polluted', '__proto__[polluted]=1', 'constructor=1; lectern=constructor', '$Version=1'],
  ...[`lectern=${'a'.repeat(15_000)}; lectern.sig=x`, 'a=b; '.repeat(3000), `${'('.repeat(15_000)}=1`],
];

describe.each(hostileCases)('%s, as %s,', (name, caller) => {
  const takes = (kind: Caller) => caller === kind && name in endpoints;
  // Endpoints without a kind of credentials get a sample of the values, since one function parses
  // all of them.
  const given = (credentials: string[], kind: Caller) =>
    takes(kind) ? credentials : sixthOf(credentials, name, caller);

  test('hostile credentials in the Authorization header cause no failure', async () => {
    const { headers, ...rest } = requestOfCase(name, caller);
    const others = headers.filter((header) => !header.startsWith('authorization:'));
    const statuses = await expectAllSane(
      address,
      given(authorizations, 'bearer').map((value) => ({
        ...rest,
        headers: [`Authorization: ${value}`, ...others],
      })),
    );
    if (takes('bearer')) expect(new Set(statuses)).toEqual(new Set([401]));
  });

  test('hostile cookies cause no failure', async () => {
    const { headers, ...rest } = requestOfCase(name, caller);
    const others = headers.filter((header) => !header.startsWith('cookie:'));
    const statuses = await expectAllSane(
      address,
      given(cookies, 'session').map((value) => ({ ...rest, headers: [`Cookie: ${value}`, ...others] })),
    );
    if (takes('session')) expect(new Set(statuses)).toEqual(new Set([401]));
  });
});

test('a login with hostile cookies causes no failure', async () => {
  const request = requestOfCase('POST /api/session', 'anyone');
  const body = Buffer.from(JSON.stringify({ email: tenant.ids.email, password: tenant.password }));
  const headers = cookies.slice(0, 12).map((given) => [...request.headers, `Cookie: ${given}`]);
  const statuses = await expectAllSane(
    address,
    headers.map((changed) => ({ ...request, body, headers: changed })),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
});

const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** None of these tokens is signed; `typ` is the header field. */
function hostileTokens(typ: string): string[] {
  const header = { alg: 'HS256', typ, kid: 'new' };
  const payload = { lessonId: tenant.ids.lessonId, iat: 1, exp: 9e9, iss: 'lectern' };
  const headers = [
    ...[{ alg: 'none' }, { alg: { $ne: null } }, { alg: 'RS256' }, { alg: 'HS512' }, { alg: undefined }],
    ...[{ kid: '__proto__' }, { kid: { $ne: null } }, { kid: '\0' }, { typ: '__proto__' }, { typ: [] }],
    { crit: ['exp'], exp: 1 },
    { jku: 'http://127.0.0.1/', x5u: 'http://127.0.0.1/', jwk: { kty: 'oct', k: '' } },
  ].map((changed) => ({ ...header, ...changed }));
  const texts = [
    '{"__proto__":{"polluted":1},"alg":"HS256","typ":"JWT"}',
    '['.repeat(10_000),
    'null',
    '"',
    '\0',
  ];
  return [
    ...[...headers, ...texts].map((changed) => `${part(changed)}.${part(payload)}.${part('signature')}`),
    ...['.', '..', '...', 'a.b', 'a.b.c', '%00.%00.%00', '.'.repeat(16_000), 'a'.repeat(16_000)],
    ...[`${'a'.repeat(15_000)}.b.c`, 'a.b.'.repeat(4000)],
    `${part(header)}.${part('['.repeat(9_000))}.${part('signature')}`,
    `${part(header)}..`,
    `${part(header)}.${part(payload)}.`,
    `${part(header)}.${part('{"exp":1e400,"iat":-1e400}')}.${part('x')}`,
  ];
}

const withToken = hostileCases.filter(([, caller]) => caller === 'embed' || caller === 'launch');

test.each(withToken)('%s rejects invalid tokens with 401, as %s', async (name, caller) => {
  const { target, ...rest } = requestOfCase(name, caller);
  const tokens = hostileTokens(caller === 'embed' ? 'JWT' : 'lectern-launch+jwt');
  const targets = tokens.map((token) => target.replace(/(?<=[?&]token=)[^&]*/, () => token));
  const statuses = await expectAllSane(
    address,
    targets.map((changed) => ({ ...rest, target: changed })),
  );
  expect(statuses.map((status, index) => [tokens[index]?.slice(0, 80), status])).toEqual(
    tokens.map((token) => [token.slice(0, 80), 401]),
  );
});
