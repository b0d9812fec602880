import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { storageFrame } from '../../cli/simulator/launches.ts';
import type { Link } from '../../cli/simulator/model.ts';
import { launchBrowser } from '../support/browser.ts';
import { useLaunchLab } from './support/launch-lab.ts';

/* Lessons in frames of another site, in a browser that keeps no cookie there. */

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const lab = useLaunchLab({ hostname: 'localhost' });
let browser: Browser;
let proxy: Server;
let link: Link;
beforeAll(async () => {
  browser = await launchBrowser();
  proxy = await startProxy(new URL(lab.address));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  link = lab.addLink({ tool: (await lab.register(address)).tool });
});
afterAll(async () => {
  await browser.close();
  proxy.closeAllConnections();
  proxy.close();
});

/** Stands for a browser that keeps no cookies of frames: they do not get as far. */
async function startProxy({ hostname, port }: URL): Promise<Server> {
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const onwards = sendRequest({ hostname, port, method, path, headers }, (answer) => {
      if (headers['sec-fetch-dest'] === 'iframe') delete answer.headers['set-cookie'];
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onwards.on('error', () => response.destroy());
    request.pipe(onwards);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function openContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return context;
}

/** The platform's page that shows a lesson in a frame. */
async function openLaunch(context: BrowserContext, storage: boolean): Promise<[Page, FrameLocator]> {
  const page = await context.newPage();
  await page.goto(lab.simulator.addresses.url);
  const fields = {
    user: lab.simulator.sample.users.learner.id,
    frame: link.id,
    ...(storage && { storage: storageFrame }),
  };
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  await page.evaluate(`
    document.body.innerHTML = '<form method="post" action="/launches">${inputs.join('')}</form>';
    document.forms[0].submit();
  `);
  return [page, page.frameLocator('iframe.tool')];
}

const lesson = (outer: FrameLocator | Page) =>
  outer.frameLocator('iframe').getByRole('heading', { name: 'Title of s1' });

test('a lesson opens by what the platform has kept', async () => {
  const [, tool] = await openLaunch(await openContext(), true);
  await lesson(tool).waitFor();
});

test('a lesson opens in a tab of its own where the platform keeps nothing', async () => {
  const context = await openContext();
  const [page, tool] = await openLaunch(context, false);
  const button = tool.getByRole('button', { name: 'Open in a new tab' });
  await button.waitFor();
  const [tab] = await Promise.all([context.waitForEvent('page'), button.click()]);
  await lesson(tab).waitFor();
  expect(new URL(tab.url()).origin).toBe(new URL(link.url).origin);
  expect(await tab.evaluate('opener')).toBeNull();
  await page.close();
});

test('where the platform does not answer, the page goes on without it, and then to the button', async () => {
  const context = await openContext();
  const body = "document.documentElement.dataset.ready = '';";
  await context.route('**/assets/ready.js', (route) =>
    route.fulfill({ body, contentType: 'text/javascript' }),
  );
  const [, tool] = await openLaunch(context, true);
  await tool.getByRole('button', { name: 'Open in a new tab' }).waitFor();
});

test('a page that is not the platform’s is told nothing, and what it says is not heard', async () => {
  const { simulator } = lab;
  const { learner: user } = simulator.sample.users;
  // Begun by somebody who has the secret, and has another browser send the launch.
  const login = await (await simulator.sendLogin({ user, link, storageTarget: '_parent' })).text();
  const [, json = ''] = /id="lectern-storage">(.*?)<\/script>/s.exec(login) ?? [];
  const { next, value } = JSON.parse(json) as { next: string; value: string };
  const form = await (await fetch(next)).text();
  const [, inner = ''] = /<form[^>]*>(.*?)<noscript>/s.exec(form) ?? [];
  const page = await (await openContext()).newPage();
  await page.goto(lab.address);
  await page.evaluate(`
    globalThis.told = [];
    document.body.innerHTML = ${JSON.stringify(
      `<iframe name="victim"></iframe><form method="post" target="victim" action="${link.url}">${inner}</form>`,
    )};
    addEventListener('message', ({ data }) => told.push(data));
    setInterval(() => frames[0].postMessage(
      { subject: 'lti.get_data.response', message_id: undefined, value: '${value}' }, '*'), 20);
    document.forms[0].submit();
  `);
  await page.frameLocator('iframe').getByRole('button', { name: 'Open in a new tab' }).waitFor();
  expect(await page.evaluate('told')).toEqual([]);
});
