import { expect, test } from 'vitest';
import { answerOf, claimsOf, expectRefusal, useLaunchLab } from './support/launch-lab.ts';
import type { LaunchAnswer } from './support/launch-lab.ts';

/* Launches in browsers that keep no cookies. storage-browser.test.ts has what the pages' script does. */

const lab = useLaunchLab();

/** What the script of a page is to ask for. */
function requestIn({ html }: LaunchAnswer): Record<string, string | number> {
  const [, json = ''] =
    /<script type="application\/json" id="lectern-storage">(.*?)<\/script>/s.exec(html) ?? [];
  return JSON.parse(json) as Record<string, string | number>;
}

/** A launch as far as the page that asks the platform's storage, with what the storage would have. */
async function launchWithoutCookie(storageTarget = 'lti_storage') {
  const { simulator, link } = lab;
  const { learner: user } = simulator.sample.users;
  const login = await answerOf(await simulator.sendLogin({ user, link, storageTarget }));
  const request = requestIn(login);
  const page = await (await fetch(String(request.next))).text();
  const fields = [...page.matchAll(/name="([^"]*)" value="([^"]*)"/g)];
  const form = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
  return { login, request, form, answer: await post(form) };
}

async function post(
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<LaunchAnswer> {
  const body = new URLSearchParams(form);
  return answerOf(
    await fetch(`${lab.address}/lti/launch`, { method: 'POST', body, headers, redirect: 'manual' }),
  );
}

const ours = { 'sec-fetch-site': 'same-origin' };

test('a login that names a storage has it keep the secret of the browser, under the name of its state', async () => {
  const { simulator } = lab;
  const { login, request, form } = await launchWithoutCookie();
  expect(login.status).toBe(200);
  const [cookie = ''] = login.headers.getSetCookie();
  expect(request).toStrictEqual({
    subject: 'lti.put_data',
    messageId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    target: 'lti_storage',
    origin: new URL(simulator.addresses.authorization).origin,
    key: `state_${form.state}`,
    value: /=([\w-]{43});/.exec(cookie)?.[1],
    milliseconds: 2000,
    next: expect.stringContaining(`${simulator.addresses.authorization}?`) as string,
  });
  expect(login.headers.get('content-security-policy')).toContain("script-src 'self'");
  expect(login.headers.get('cache-control')).toBe('no-store');
});

test('without its cookie a launch asks the storage, and what that has opens the lesson, once', async () => {
  const { request, form, answer } = await launchWithoutCookie();
  expect(answer.status).toBe(200);
  expect(requestIn(answer)).toMatchObject({
    subject: 'lti.get_data',
    key: request.key,
    origin: request.origin,
  });
  expect(requestIn(answer)).not.toHaveProperty('value');
  const again = { ...form, storage_value: String(request.value) };
  const opened = await post(again, ours);
  expect(claimsOf(opened).ltiUserId).toBe(lab.simulator.sample.users.learner.id);
  expectRefusal(await post(again, ours), 403, 'replayed');
});

test('with another secret in the storage the launch is refused, and is good for its own browser yet', async () => {
  const { request, form } = await launchWithoutCookie();
  const wrong = { ...form, storage_value: 'A'.repeat(43) };
  expectRefusal(await post(wrong, ours), 403, 'state_mismatch');
  expect((await post({ ...form, storage_value: String(request.value) }, ours)).status).toBe(303);
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another origin of the site', { 'sec-fetch-site': 'same-site' }],
  ['another origin, in an older browser', { origin: 'https://evil.example' }],
  ['no origin, in an older browser', { origin: 'null' }],
])('the secret proves nothing in a form of %s: whoever began the login knows it', async (_, headers) => {
  const { request, form } = await launchWithoutCookie();
  const forged = { ...form, storage_value: String(request.value) };
  expectRefusal(await post(forged, headers), 403, 'browser_not_recognized');
});

test('where the storage had nothing, a button begins the login anew in a tab, without the storage', async () => {
  const { form } = await launchWithoutCookie();
  const answer = await post({ ...form, storage_value: '' }, ours);
  expectRefusal(answer, 403, 'browser_not_recognized', [form.state ?? '', form.id_token ?? '']);
  expect(answer.text).toContain('Open in a new tab');
  const [, button = ''] = /<form (.*?)<\/form>/s.exec(answer.html) ?? [];
  expect(button).toMatch(/^method="get" action="\/lti\/login" target="_blank"/);
  const names = [...button.matchAll(/name="([^"]*)"/g)].map(([, name]) => name);
  expect(names.toSorted()).toEqual([
    'client_id',
    'iss',
    'login_hint',
    'lti_deployment_id',
    'lti_message_hint',
    'target_link_uri',
  ]);
});

test.each([
  ['es-MX', 'es', 'ltr', 'Tu navegador no permite'],
  ['fr', 'fr', 'ltr', 'Votre navigateur empêche'],
  ['de-AT', 'de', 'ltr', 'Dein Browser lässt'],
  ['pt-BR', 'pt', 'ltr', 'Seu navegador não deixa'],
  ['ar', 'ar', 'rtl', 'يمنع متصفحك'],
  ['zh-TW', 'zh', 'ltr', '你的浏览器'],
  ['nl', 'en', 'ltr', 'Your browser keeps'],
])('to a reader of "%s" that is said in %s', async (accepted, language, direction, text) => {
  const { form } = await launchWithoutCookie();
  const answer = await post({ ...form, storage_value: '' }, { ...ours, 'accept-language': accepted });
  expect(answer.html).toContain(`<html lang="${language}" dir="${direction}">`);
  expect(answer.text.startsWith(text)).toBe(true);
});
