import { createServer, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Page } from 'playwright-core';
import { freePort } from '../../shared/embedded/child-process.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { buildUser, testPassword } from '../accounts/users.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { ask } from '../support/answers.ts';
import { testSigningSecrets } from '../support/harness.ts';
import { listen } from '../support/serve.ts';
import { useApi, useBrowser } from '../support/use.ts';

const login = { username: 'operator', password: 'a password of an operator' };
const api = useApi();
const browser = useBrowser();

/** Starts an API behind a proxy that removes the path of PUBLIC_URL. */
async function startBehindPath(): Promise<string> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/courses/lectern`;
  const target = new URL(
    await api.startApi({
      ...{ PUBLIC_URL: url, TRUST_PROXY: '1' },
      ...{ ADMIN_USERNAME: login.username, ADMIN_PASSWORD: login.password },
    }),
  );
  const proxy = createServer((incoming, outgoing) => {
    const path = /^\/courses\/lectern(\/.*)$/.exec(incoming.url ?? '')?.[1];
    if (path === undefined) {
      outgoing.writeHead(404).end();
      return;
    }
    const headers = { ...incoming.headers, 'x-forwarded-for': '127.0.0.1' };
    const forwarded = request({
      host: target.hostname,
      port: target.port,
      path,
      method: incoming.method,
      headers,
    });
    forwarded.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  const { close } = await listen(proxy, '127.0.0.1', port);
  onTestFinished(close);
  return url;
}

async function lessonPath(): Promise<string> {
  const { lessonId } = await publishLesson(api, api.organization);
  const claims = { organizationId: api.organization._id, lessonId, versionId: null, learnerId: 'ada' };
  const { token } = signEmbedToken(testSigningSecrets, { ...claims, userAttributes: '{}' }, 600);
  return `/embed/${lessonId}?token=${token}`;
}

/** Logs in, and opens the page of the lesson through the list. */
async function logsIntoConsole(page: Page): Promise<void> {
  const { user } = await buildUser(api, { organization: api.organization });
  await page.getByLabel('Email').fill(user.email);
  await page.getByLabel('Password').fill(testPassword);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'A lesson' }).click();
  await page.getByText('Version 1', { exact: true }).waitFor();
  await page.reload();
  await page.getByText('Version 1', { exact: true }).waitFor();
}

const seesLesson = (page: Page) => page.frameLocator('iframe').getByRole('button').first().waitFor();

test('all pages work under the path of PUBLIC_URL', async () => {
  const url = await startBehindPath();
  const headers = { authorization: `Basic ${btoa(`${login.username}:${login.password}`)}` };
  for (const path of ['/', '/docs', '/admin/queues']) {
    const answer = await ask(url + path, { headers });
    expect([path, answer.status]).toEqual([path, 200]);
    const html = answer.body.toString();
    const base = new URL(/<base href="([^"]*)"/.exec(html)?.[1] ?? '', url + path);
    const named = [...html.matchAll(/<(?:a|link|script)\b[^>]* (?:href|src)="([^"#]+)"/g)];
    const own = named.map(([, name]) => new URL(name ?? '', base)).filter(({ host }) => host === base.host);
    expect(own.length).toBeGreaterThan(0);
    for (const { href } of own) expect([href, (await ask(href, { headers })).status]).toEqual([href, 200]);
  }
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('response', (response) => {
    // The console asks who is logged in.
    if (response.status() >= 400 && !response.url().endsWith('/api/session'))
      faults.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(url + (await lessonPath()));
  await seesLesson(page);
  await page.goto(`${url}/console`);
  await logsIntoConsole(page);
  await page.close();
  expect(faults).toEqual([]);
});

test('a lesson plays when its page is opened under another host name than that of PUBLIC_URL', async () => {
  const url = await api.startApi({ PUBLIC_URL: 'https://lessons.example' });
  const page = await browser.newPage();
  await page.goto(url + (await lessonPath()));
  await seesLesson(page);
  await page.close();
});
