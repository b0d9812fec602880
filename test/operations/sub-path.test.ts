import { createServer, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Page } from 'playwright-core';
import { freePort } from '../../shared/embedded/child-process.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { publishLesson } from '../player/player-lessons.ts';
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

const seesLesson = (page: Page) => page.frameLocator('iframe').getByRole('button').first().waitFor();

test('all pages work under the path of PUBLIC_URL', async () => {
  const url = await startBehindPath();
  const context = await browser.newContext({ httpCredentials: login });
  const faults: string[] = [];
  context.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
  });
  const pages: [path: string, hasLoaded: (page: Page) => Promise<unknown>][] = [
    ['/', (page) => page.getByRole('link', { name: 'API reference' }).waitFor()],
    ['/docs', (page) => page.getByText('Sign an embed token').first().waitFor()],
    ['/admin/queues', (page) => page.getByText('Exports').first().waitFor()],
    [await lessonPath(), seesLesson],
  ];
  for (const [path, hasLoaded] of pages) {
    const page = await context.newPage();
    await page.goto(url + path);
    await hasLoaded(page);
    await page.close();
  }
  await context.close();
  expect(faults).toEqual([]);
});

test('a lesson plays when its page is opened under another host name than that of PUBLIC_URL', async () => {
  const url = await api.startApi({ PUBLIC_URL: 'https://lessons.example' });
  const page = await browser.newPage();
  await page.goto(url + (await lessonPath()));
  await seesLesson(page);
  await page.close();
});
