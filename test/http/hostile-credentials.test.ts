import { expect, test } from 'vitest';
import { ask } from '../support/answers.ts';
import { expectAllSane, useHostileLab } from './hostile.ts';
import { endpoints, requestOf } from './isolation-table.ts';
import type { Caller } from './isolation-table.ts';

const lab = useHostileLab();

const guarded = Object.entries(endpoints).filter(([, { callers }]) => !callers.includes('anyone'));

test.each(guarded)('%s accepts only its own kind of credentials', async (_name, endpoint) => {
  const every: Caller[] = ['bearer', 'session', 'embed', 'pinned', 'launch', 'anyone'];
  for (const caller of every.filter((one) => !endpoint.callers.includes(one))) {
    const { path, options } = requestOf(endpoint, caller, lab.tenant, lab.tenant.ids);
    const { status, body } = await ask(lab.url + path, options);
    // Without a token, an embed page contains no lesson and waits for a token.
    const isWaiting = path.startsWith('/embed/') && body.includes('"page":"waiting"');
    expect({ caller, status }).toEqual({
      caller,
      status: expect.toBeOneOf(isWaiting ? [200] : [400, 401]) as number,
    });
  }
});

const authorizations = [
  ...['', 'Bearer', 'Bearer .', 'Bearer a.b', 'Bearer \xff\xfe.\xff', 'Bearer %00.%00', 'Bearer $ne.$ne'],
  ...[`Bearer lkp_${'0'.repeat(24)}.lks_${'0'.repeat(43)}`, 'Bearer __proto__.constructor'],
  ...['Negotiate', 'Digest username="\xff', 'Basic', 'Basic \xff', `Basic ${btoa(':'.repeat(5000))}`],
  ...[`Bearer ${'a'.repeat(15_000)}`, `Bearer${' '.repeat(15_000)}x`, `Bearer ${'a.'.repeat(7000)}`],
].map((value) => `Authorization: ${value}`);
const cookies = [
  ...['', '=', ';;;;', 'lectern', 'lectern=', '=lectern', 'lectern="', 'lectern=a'],
  'lectern=\xff; lectern.sig=\xff',
  ...['lectern=a; lectern.sig=b', 'lectern.sig=b; lectern.sig=c; lectern=a', 'lectern=%00; lectern.sig=%00'],
  ...['lectern={"$ne":null}; lectern.sig=[]', '__proto__[polluted]=1', 'constructor=1; lectern=constructor'],
  ...[`lectern=${'a'.repeat(15_000)}; lectern.sig=x`, 'a=b; '.repeat(3000), `${'('.repeat(15_000)}=1`],
].map((value) => `Cookie: ${value}`);

/** One endpoint of each kind of access and of errors; the test above asks each endpoint without credentials. */
const withCredentials: [name: string, caller: Caller][] = [
  ['GET /api/lessons', 'bearer'],
  ['GET /api/lessons', 'session'],
  ['GET /api/public/lessons/:lessonId/progress/:learnerId', 'bearer'],
  ['GET /api/lessons/:lessonId/player-data', 'session'],
  ['GET /api/lessons/:lessonId/versions/:versionId/export-zip', 'bearer'],
];

test.each(withCredentials)('%s, as %s, rejects hostile credentials with 401', async (name, caller) => {
  const { headers: own, ...rest } = lab.requestFor(name, caller);
  const [kind, values] = caller === 'bearer' ? ['authorization:', authorizations] : ['cookie:', cookies];
  const others = own.filter((header) => !header.startsWith(kind));
  const requests = values.map((value) => ({ ...rest, headers: [value, ...others] }));
  expect(new Set(await expectAllSane(lab.url, requests))).toEqual(new Set([401]));
});

test('a log-in with hostile cookies succeeds', async () => {
  const { ids, password } = lab.tenant;
  const request = lab.requestFor('POST /api/session', 'anyone');
  const body = Buffer.from(JSON.stringify({ email: ids.email, password }));
  const requests = cookies
    .slice(-2)
    .map((cookie) => ({ ...request, body, headers: [...request.headers, cookie] }));
  expect(new Set(await expectAllSane(lab.url, requests))).toEqual(new Set([200]));
});

const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

test.each(['embed', 'launch'] as const)('unsigned and malformed tokens get 401, as %s', async (caller) => {
  const header = { alg: 'HS256', typ: caller === 'embed' ? 'JWT' : 'lectern-launch+jwt', kid: 'new' };
  const payload = part({ lessonId: lab.tenant.ids.lessonId, iat: 1, exp: 9e9, iss: 'lectern' });
  const changed = [
    ...[{ alg: 'none' }, { alg: { $ne: null } }, { kid: '__proto__' }, { kid: '\0' }, { typ: [] }],
    { crit: ['exp'] },
    { jku: 'http://127.0.0.1/', x5u: 'http://127.0.0.1/', jwk: { kty: 'oct', k: '' } },
  ].map((fields) => ({ ...header, ...fields }));
  const polluting = '{"__proto__":{"polluted":1},"alg":"HS256","typ":"JWT"}';
  const broken = [polluting, '['.repeat(10_000), 'null', '"', '\0'];
  const tokens = [
    ...[...changed, ...broken].map((first) => `${part(first)}.${payload}.${part('signature')}`),
    ...['.', '...', 'a.b.c', '%00.%00.%00', '.'.repeat(16_000), `${'a'.repeat(15_000)}.b.c`],
    ...['a.b.'.repeat(4000), `${part(header)}.${part('['.repeat(9_000))}.${part('signature')}`],
    ...[`${part(header)}..`, `${part(header)}.${payload}.`],
    `${part(header)}.${part('{"exp":1e400}')}.${part('x')}`,
  ];
  const { target, ...rest } = lab.requestFor('GET /api/public/lessons/:lessonId/session', caller);
  const requests = tokens.map((token) => ({
    ...rest,
    target: target.replace(/(?<=[?&]token=)[^&]*/, () => token),
  }));
  const statuses = await expectAllSane(lab.url, requests);
  const about = (status: number, index: number) => [tokens[index]?.slice(0, 80), status];
  expect(statuses.map(about)).toEqual(tokens.map((_token, index) => about(401, index)));
});
