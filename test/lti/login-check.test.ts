import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { expectRejection, answerOf, useLaunchLab } from './support/launch-lab.ts';

/*
 * A login that may be in a frame first checks whether the browser keeps cookies there, before it
 * contacts the platform.
 */

const lab = useLaunchLab();

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

  test('goes on to the platform when the cookie arrives, without the platform’s storage', async () => {
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
