import { expect, test } from 'vitest';
import { createOrganization } from '../../shared/models/organization.ts';
import { faultsIn } from '../support/axe.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf, sendRaw } from '../support/answers.ts';
import { useApi, useBrowser } from '../support/use.ts';
import { publishLesson } from '../player/player-lessons.ts';

const api = useApi({ ADMIN_USERNAME: 'operator', ADMIN_PASSWORD: 'a password of an operator' });
const browser = useBrowser();

const stateAt = async (address: string) =>
  jsonOf(await ask(`${address}/`, { headers: { accept: 'application/json' } })) as { status: string };
const pageAt = async (address: string, headers: Record<string, string> = {}) =>
  (await ask(`${address}/`, { headers: { accept: 'text/html', ...headers } })).body.toString();

test('programs get the state, and where the documentation is', async () => {
  const answer = await ask(`${api.url}/`, { headers: { accept: 'application/json' } });
  expect(answer.status).toBe(200);
  expect(jsonOf(answer)).toStrictEqual({
    name: 'Lectern',
    status: 'no_workers',
    docs: '/docs',
    openapi: '/openapi.json',
  });
  expect(answer.headers.get('vary')).toContain('Accept');
  const stop = await api.startWorker();
  // Results are cached for some seconds.
  await waitFor('a worker is seen', async () => (await stateAt(api.url)).status === 'ok');
  await stop();
  await waitFor('no worker is seen', async () => (await stateAt(api.url)).status === 'no_workers');
});

test('the page is accessible, in light and dark, wide and narrow', async () => {
  const page = await browser.newPage();
  // The page's policy blocks axe's script, so axe checks a copy without it.
  const bare = await browser.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    for (const one of [page, bare]) {
      await one.setViewportSize({ width, height: 800 });
      await one.emulateMedia({ colorScheme });
    }
    await page.goto(`${api.url}/`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await bare.setContent(await page.content());
    expect(await faultsIn(bare)).toEqual([]);
  }
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Lectern');
  const region = page.getByRole('region', { name: 'No worker' });
  expect(await region.getByRole('heading', { level: 2 }).count()).toBe(1);
  expect(complaints).toEqual([]);
  expect(new Set(requests)).toEqual(new Set(['/', '/favicon.svg']));
  expect(await page.evaluate('document.images[0].naturalWidth')).toBeGreaterThan(0);
  for (const name of ['API reference', 'OpenAPI document', 'Queue board']) {
    const href = await page.getByRole('link', { name }).getAttribute('href');
    expect([200, 401]).toContain((await ask(api.url + (href ?? ''))).status);
  }
  await Promise.all([page.close(), bare.close()]);
});

test('the demo lesson has a link only for browsers on the same machine', async () => {
  expect(await pageAt(api.url)).not.toContain('Play the demo lesson');
  const demo = await createOrganization(api.db, { slug: 'demo', name: 'Demo', plan: 'edtech' });
  const { lessonId } = await publishLesson(api, demo);
  const [, link = ''] = /href="(\/embed\/[^"]+)"/.exec(await pageAt(api.url)) ?? [];
  expect(link).toContain(lessonId);
  expect((await ask(api.url + link)).status).toBe(200);

  const named = await api.startApi({ PUBLIC_URL: 'http://localhost:3000' });
  const proxied = await api.startApi({ TRUST_PROXY: '1' });
  for (const address of [named, proxied]) expect(await pageAt(address)).not.toContain('token=');
  // Another Host is not the same machine; fetch does not let tests set it.
  const request = 'GET / HTTP/1.1\r\nHost: tunnel.example\r\nConnection: close\r\n\r\n';
  expect(await sendRaw(api.url, request)).not.toContain('token=');
});

test('the page links to the queue board only if there is one, and reveals neither versions nor servers', async () => {
  const without = await api.startApi({ ADMIN_USERNAME: '', ADMIN_PASSWORD: '' });
  expect(await pageAt(without)).not.toContain('Queue board');
  const document = jsonOf(await ask(`${api.url}/openapi.json`)) as { info: { version: string } };
  const page = await pageAt(api.url);
  expect(page).not.toContain(document.info.version);
  expect(page).not.toMatch(/mongo|redis|\d+ worker/i);
});
