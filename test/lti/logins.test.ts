import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { changePlatform, removePlatform } from '../../shared/models/lti-platform.ts';
import { answerOf, expectRejection, loginWithoutCookie, useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();

describe('a login is rejected', () => {
  const target = () => lab.link.url;
  const similar = () => target().replace('http://', 'http://lectern@evil.example:80/?');
  test.each<[what: string, code: string, status: number, login: () => Record<string, string | undefined>]>([
    ['without an issuer', 'login_incomplete', 400, () => ({ iss: undefined })],
    ['without a login hint', 'login_incomplete', 400, () => ({ login_hint: undefined })],
    ['without a target', 'login_incomplete', 400, () => ({ target_link_uri: undefined })],
    ['with a target elsewhere', 'foreign_target', 400, () => ({ target_link_uri: 'https://evil.example/' })],
    [
      "with a target that only resembles Lectern's URL",
      'foreign_target',
      400,
      () => ({ target_link_uri: similar() }),
    ],
    ['of an unknown issuer', 'unknown_platform', 403, () => ({ iss: 'https://lms.example' })],
    ['of an unknown client', 'unknown_platform', 403, () => ({ client_id: 'other' })],
  ])('%s', async (_what, code, status, login) => {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await lab.sendLogin({ target: 'window', method, login: login() });
      expectRejection(await answerOf(answer), status, code);
    }
  });

  test.each([
    ['iss', 255],
    ['client_id', 255],
    ['lti_deployment_id', 255],
    ['lti_storage_target', 255],
    ['login_hint', 2048],
    ['target_link_uri', 2048],
    ['lti_message_hint', 8192],
  ])('whose %s is longer than %i characters', async (name, most) => {
    const send = async (length: number) => {
      const text = name === 'target_link_uri' ? `${target()}?a=` : '';
      const login = { [name]: text.padEnd(length, 'a') };
      return answerOf(await lab.sendLogin({ method: 'POST', target: 'window', login }));
    };
    expectRejection(await send(most + 1), 400, 'login_too_long');
    expect((await send(most)).html).not.toContain('login_too_long');
  });

  test("that does not identify which of an issuer's two clients it means", async () => {
    const { platform } = await lab.register(lab.address);
    const vague = { client_id: undefined, lti_deployment_id: undefined };
    const target = 'window';
    const answer = await lab.sendLogin({ target, login: vague });
    expectRejection(await answerOf(answer), 403, 'ambiguous_platform');
    // The deployment identifies the client as well.
    const login = { client_id: undefined };
    const told = await lab.sendLogin({ target, login });
    expect(told.status).toBe(302);
    await removePlatform(lab.harness.db, platform._id);
  });

  test('whose platform is not approved yet', async () => {
    const { tool, platform } = await lab.register(lab.address, { status: 'pending' });
    const link = lab.addLink({ tool });
    const answer = await lab.sendLogin({ link, target: 'window' });
    expectRejection(await answerOf(answer), 403, 'platform_not_approved');
    await changePlatform(lab.harness.db, platform._id, { status: 'active' });
    expect((await lab.launch({ link })).status).toBe(303);
  });
});

describe('a login or a launch is rejected', () => {
  const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(lab.address + path, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
      redirect: 'manual',
    });

  test.each(['/lti/login', '/lti/launch'])('at %s without a form or with a duplicate field', async (path) => {
    const twice = 'iss=a&iss=b&state=a&state=b';
    expectRejection(await answerOf(await post(path, twice)), 422, 'malformed_request');
    for (const type of ['application/json', 'multipart/form-data; boundary=a', 'text/plain']) {
      expectRejection(await answerOf(await post(path, 'iss=a&state=a', type)), 422, 'malformed_request');
    }
  });

  test('that has a duplicate query parameter', async () => {
    const answer = await fetch(`${lab.address}/lti/login?iss=a&iss=b`);
    expectRejection(await answerOf(answer), 422, 'malformed_request');
  });

  test.each([
    ['/lti/login', 32],
    ['/lti/launch', 32],
  ])('at %s, that is larger than %i KiB', async (path, kibibytes) => {
    const body = `state=${'a'.repeat(kibibytes * 1024)}`;
    expectRejection(await answerOf(await post(path, body)), 413, 'malformed_request');
  });

  test('that a user opened as a plain URL', async () => {
    const answer = await answerOf(await fetch(`${lab.address}/lti/launch`));
    expectRejection(answer, 405, 'not_a_launch');
    expect(answer.headers.get('allow')).toBe('POST');
  });

  test('from an IP address over its limit', async () => {
    const limited = await lab.startApi({ RATE_LIMIT_PER_ADDRESS: '1' });
    await fetch(`${limited}/lti/login`);
    const answer = await answerOf(await fetch(`${limited}/lti/login`));
    expectRejection(answer, 429, 'too_many_requests');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('with a general message when Lectern itself fails', async () => {
    const broken = await lab.startApi({ LECTERN_SIGNING_SECRETS: 'none' });
    const { tool } = await lab.register(broken);
    const answer = await lab.launch({ link: lab.addLink({ tool }) });
    expectRejection(answer, 500, 'server_error');
    expect(answer.html).not.toContain('secret');
  });
});

test('no page echoes what a request says', async () => {
  const hostile = '"><script>alert(1)</script>';
  const fields = new URLSearchParams({ iss: hostile, login_hint: hostile, target_link_uri: lab.link.url });
  fields.set('lti_storage_target', hostile);
  const refused = await answerOf(await fetch(`${lab.address}/lti/login/checked?${fields.toString()}`));
  expectRejection(refused, 403, 'unknown_platform', ['alert(1)']);
  const login = { login_hint: hostile, lti_message_hint: hostile, lti_storage_target: hostile };
  const page = await answerOf(await loginWithoutCookie(lab, { login }));
  expect(page.status).toBe(200);
  expect(page.html).not.toContain('<script>alert');
});

/* A login that may be in a frame first checks whether the browser keeps cookies there, before it contacts the platform. */

const testCookie = 'lectern_lti_check=1';

const locationOf = ({ headers, url }: Response) => new URL(headers.get('location') ?? '', url);
const toPlatform = expect.stringMatching(/^http.*\/authorize\?/) as string;

/** Sends the same login again with other headers. */
const repeat = (asked: Response, headers: Record<string, string>) =>
  fetch(locationOf(asked), { headers, redirect: 'manual' });

describe('a login in a frame', () => {
  test('redirects to test a cookie without content, and starts no launch yet', async () => {
    const login = { login_hint: 'a&b=ü', lti_message_hint: '{"a":1}' };
    const asked = await lab.sendLogin({ login });
    expect(asked.status).toBe(307);
    expect(asked.headers.getSetCookie()).toEqual([
      `${testCookie}; Path=/lti/login; Max-Age=600; HttpOnly; Secure; SameSite=None; Partitioned`,
    ]);
    const next = locationOf(asked);
    expect(next.origin + next.pathname).toBe(`${lab.address}/lti/login/checked`);
    expect(Object.fromEntries(next.searchParams)).toMatchObject(login);
    expect(asked.headers.get('cache-control')).toBe('no-store');
  });

  test('redirects to the platform once the browser returns the cookie, without the platform’s storage', async () => {
    const asked = await lab.sendLogin({ storageTarget: '_parent' });
    const shown = await repeat(asked, { 'sec-fetch-dest': 'iframe', cookie: testCookie });
    expect(shown.status).toBe(302);
    expect(locationOf(shown).href).toEqual(toPlatform);
    expect(shown.headers.getSetCookie()).toEqual([expect.stringMatching(/^lectern_lti_[0-9a-f]{16}=/)]);
  });

  test('sent as a form is repeated as a form, with no field in a URL', async () => {
    const asked = await lab.sendLogin({ method: 'POST' });
    expect(asked.status).toBe(307);
    expect(asked.headers.get('location')).toBe('/lti/login/checked');
    expect((await lab.launch({ method: 'POST' })).status).toBe(303);
  });

  test("is not redirected again while the browser has the last login's cookie", async () => {
    const asked = await lab.sendLogin();
    const { search } = locationOf(asked);
    const headers = { 'sec-fetch-dest': 'iframe', cookie: `other=2; ${testCookie}` };
    const next = await fetch(`${lab.address}/lti/login${search}`, { headers, redirect: 'manual' });
    expect(locationOf(next).href).toEqual(toPlatform);
  });

  test('is rejected at once for invalid parameters, and after the check for unknown ones', async () => {
    expectRejection(await answerOf(await lab.sendLogin({ login: { iss: '' } })), 400, 'login_incomplete');
    const unknown = await repeat(await lab.sendLogin({ login: { client_id: 'other' } }), {});
    expectRejection(await answerOf(unknown), 403, 'unknown_platform');
  });
});

test('a browser that does not send Sec-Fetch-Dest gets the cookie check', async () => {
  const { search } = locationOf(await lab.sendLogin());
  const asked = await fetch(`${lab.address}/lti/login${search}`, { redirect: 'manual' });
  expect(asked.status).toBe(307);
  expect(locationOf(await repeat(asked, { cookie: testCookie })).href).toEqual(toPlatform);
});

test("a login and a launch without a platform's signature store nothing in Redis", async () => {
  const { simulator, link, harness } = lab;
  const redis = new Redis(harness.servers.redisUrl);
  const keys = `${harness.config.redisPrefix}:lti:*`;
  const before = await redis.keys(keys);
  const long = {
    lti_storage_target: '\u0001'.repeat(255),
    target_link_uri: `${link.url}?a=`.padEnd(2048, '\u0001'),
    ...{ login_hint: 'a'.repeat(2048), lti_message_hint: 'a'.repeat(8192) },
  };
  const login = { iss: simulator.issuer, client_id: lab.tool.clientId, ...long };
  const url = `${lab.address}/lti/login/checked`;
  expect((await fetch(url, { method: 'POST', body: new URLSearchParams(login) })).status).toBe(200);
  const launch = await lab.drive();
  const [header = '', payload = ''] = (launch.fields.id_token ?? '').split('.');
  const fields = { ...launch.fields, id_token: `${header}.${payload}.${'A'.repeat(342)}` };
  expectRejection(await answerOf(await simulator.submitLaunch({ ...launch, fields })), 403, 'bad_signature');
  expect(await redis.keys(keys)).toStrictEqual(before);
  // The forged launch did not consume the state; the launch with its own token does.
  expect((await simulator.submitLaunch(launch)).status).toBe(303);
  const used = (await redis.keys(keys)).filter((key) => !before.includes(key));
  expect(used).toHaveLength(1);
  expect(await redis.ttl(used[0] ?? '')).toBeLessThanOrEqual(600);
  redis.disconnect();
});
