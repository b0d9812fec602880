import { expect, test } from 'vitest';
import {
  answerOf,
  claimsOf,
  expectRejection,
  loginWithoutCookie,
  useLaunchLab,
} from './support/launch-lab.ts';
import type { LaunchAnswer } from './support/launch-lab.ts';

/* Launches in browsers that keep no cookies. browser-storage.test.ts covers the pages' script. */

const lab = useLaunchLab();

/** Returns the request that the page's script will send. */
function requestIn({ html }: LaunchAnswer): Record<string, string | number> {
  const [, json = ''] =
    /<script type="application\/json" id="lectern-storage">(.*?)<\/script>/s.exec(html) ?? [];
  return JSON.parse(json) as Record<string, string | number>;
}

/** Sends a launch up to the page that reads the platform's storage, and returns what the storage would contain. */
async function launchWithoutCookie(storageTarget = 'lti_storage') {
  const login = await answerOf(await loginWithoutCookie(lab, { storageTarget }));
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

test("a login that names a storage puts the browser's secret there, under a name made from its state", async () => {
  const { simulator } = lab;
  const { login, request, form } = await launchWithoutCookie();
  expect(login.status).toBe(200);
  const [cookie = ''] = login.headers.getSetCookie();
  expect(request).toStrictEqual({
    subject: 'lti.put_data',
    messageId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    target: 'lti_storage',
    origin: new URL(simulator.urls.authorization).origin,
    key: `state_${form.state}`,
    value: /=([\w-]{43});/.exec(cookie)?.[1],
    milliseconds: 4000,
    next: expect.stringContaining(`${simulator.urls.authorization}?`) as string,
  });
  expect(login.headers.get('content-security-policy')).toContain("script-src 'self'");
  expect(login.headers.get('cache-control')).toBe('no-store');
});

test('a launch without its cookie reads the storage, and the secret there opens the lesson once', async () => {
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
  expectRejection(await post(again, ours), 403, 'replayed');
});

test('another secret in the storage is rejected, and the launch stays valid for its own browser', async () => {
  const { request, form } = await launchWithoutCookie();
  const wrong = { ...form, storage_value: 'A'.repeat(43) };
  expectRejection(await post(wrong, ours), 403, 'state_mismatch');
  expect((await post({ ...form, storage_value: String(request.value) }, ours)).status).toBe(303);
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another origin of the site', { 'sec-fetch-site': 'same-site' }],
  ['another origin, in an older browser', { origin: 'https://evil.example' }],
  ['no origin, in an older browser', { origin: 'null' }],
])('the secret, which who began the login knows, is rejected in a form of %s', async (_, headers) => {
  const { request, form } = await launchWithoutCookie();
  const forged = { ...form, storage_value: String(request.value) };
  expectRejection(await post(forged, headers), 403, 'browser_not_recognized');
});

test('where the storage has lost the secret, the launch is rejected and no new login reuses its hint', async () => {
  const { form } = await launchWithoutCookie();
  const answer = await post({ ...form, storage_value: '' }, ours);
  expectRejection(answer, 403, 'browser_not_recognized', [form.state ?? '', form.id_token ?? '']);
  expect(answer.html).not.toContain('<form');
});

/** Begins a login in a tab: how its form is sent, and its fields. */
function buttonIn(html: string): { how: string; fields: Record<string, string> } {
  const [, how = '', inner = ''] = /<form ([^>]*)>(.*?)<\/form>/s.exec(html) ?? [];
  const fields = [...inner.matchAll(/name="([^"]*)" value="([^"]*)"/g)];
  return { how, fields: Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value])) };
}

test('without cookie and storage no request reaches the platform, and a button begins the login in a tab', async () => {
  const { simulator, link, tool } = lab;
  const { learner: user } = simulator.sample.users;
  const asked = simulator.requests.length;
  const answer = await answerOf(await loginWithoutCookie(lab));
  expectRejection(answer, 403, 'cookies_blocked');
  expect(answer.text).toContain('Open in a new tab');
  expect(simulator.requests).toHaveLength(asked);
  expect(answer.headers.getSetCookie()).toEqual([]);

  const { how, fields } = buttonIn(answer.html);
  expect(how).toBe('method="post" action="/lti/login" target="_blank" rel="noopener"');
  expect(fields).toStrictEqual({
    iss: simulator.issuer,
    login_hint: user.loginHint,
    target_link_uri: link.url,
    lti_message_hint: expect.any(String) as string,
    client_id: tool.clientId,
    lti_deployment_id: link.deploymentId,
  });
  const init = { method: 'POST', redirect: 'manual', headers: { 'sec-fetch-dest': 'document' } } as const;
  const login = await fetch(`${lab.address}/lti/login`, { ...init, body: new URLSearchParams(fields) });
  const page = await (await fetch(login.headers.get('location') ?? '')).text();
  expect(page).toContain('id_token');
});

test('a page that waits for the storage has the same button in case the storage fails', async () => {
  const { loginHint } = lab.simulator.sample.users.learner;
  const { html } = await answerOf(await loginWithoutCookie(lab, { storageTarget: '_parent' }));
  for (const within of ['template id="lectern-refusal"', 'noscript']) {
    const [, refusal = ''] = new RegExp(`<${within}>(.*?)</${within.split(' ')[0]}>`, 's').exec(html) ?? [];
    expect(refusal).toContain('<code dir="ltr">cookies_blocked</code>');
    expect(buttonIn(refusal).fields).toMatchObject({ login_hint: loginHint });
    expect(buttonIn(refusal).fields).not.toHaveProperty('lti_storage_target');
  }
});

test.each([
  ['es-MX', 'es', 'ltr', 'Tu navegador no puede'],
  ['ar', 'ar', 'rtl', 'لا يستطيع متصفحك'],
  ['nl', 'en', 'ltr', 'Your browser can’t open'],
])('a reader of "%s" gets that message in %s', async (accepted, language, direction, text) => {
  const headers = { 'accept-language': accepted };
  const answer = await answerOf(await loginWithoutCookie(lab, {}, headers));
  expect(answer.html).toContain(`<html lang="${language}" dir="${direction}">`);
  expect(answer.text.startsWith(text)).toBe(true);
});
