import { describe, expect, test } from 'vitest';
import { approvePlatform, removePlatform } from '../../shared/models/lti-platform.ts';
import { answerOf, expectRejection, loginWithoutCookie, useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();

describe('a login is rejected', () => {
  const target = () => lab.link.url;
  test.each<[what: string, code: string, status: number, login: () => Record<string, string | undefined>]>([
    ['without an issuer', 'login_incomplete', 400, () => ({ iss: undefined })],
    ['without a login hint', 'login_incomplete', 400, () => ({ login_hint: undefined })],
    ['without a target', 'login_incomplete', 400, () => ({ target_link_uri: undefined })],
    ['with a target elsewhere', 'foreign_target', 400, () => ({ target_link_uri: 'https://evil.example/' })],
    [
      "with a target that only resembles Lectern's URL",
      'foreign_target',
      400,
      () => ({
        target_link_uri: target().replace('http://', 'http://lectern@evil.example:80/?'),
      }),
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

  test('of a platform that was not approved yet', async () => {
    const { tool, platform } = await lab.register(lab.address, { status: 'pending' });
    const link = lab.addLink({ tool });
    const answer = await lab.sendLogin({ link, target: 'window' });
    expectRejection(await answerOf(answer), 403, 'platform_not_approved');
    await approvePlatform(lab.harness.db, platform._id, []);
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

  test.each(['/lti/login', '/lti/launch'])(
    'at %s when it is not a form or has a duplicate field',
    async (path) => {
      const twice = 'iss=a&iss=b&state=a&state=b';
      expectRejection(await answerOf(await post(path, twice)), 422, 'malformed_request');
      for (const type of ['application/json', 'multipart/form-data; boundary=a', 'text/plain']) {
        expectRejection(await answerOf(await post(path, 'iss=a&state=a', type)), 422, 'malformed_request');
      }
    },
  );

  test('that has a duplicate query parameter', async () => {
    const answer = await fetch(`${lab.address}/lti/login?iss=a&iss=b`);
    expectRejection(await answerOf(answer), 422, 'malformed_request');
  });

  test.each([
    ['/lti/login', 32],
    ['/lti/launch', 256],
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
