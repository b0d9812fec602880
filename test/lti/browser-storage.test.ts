import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Frame, FrameLocator, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { storageFrame } from '../../simulator/launches.ts';
import type { Link } from '../../simulator/model.ts';
import { launchBrowser } from '../support/browser.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { loginWithoutCookie, useLaunchLab } from './support/launch-lab.ts';

/*
 * Lessons in cross-site frames, in a browser that keeps only partitioned cookies there. A platform
 * answers a login only once, so Lectern must know beforehand whether to send it.
 */

const lab = useLaunchLab({ hostname: 'localhost' });
const browser = useStarted(
  () => launchBrowser({ thirdPartyCookies: false }),
  (started) => started.close(),
);
const proxy = useStarted(
  () => startProxy(new URL(lab.address)),
  async (server) => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  },
);
let link: Link;
let requestsBefore: number;
beforeAll(async () => {
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  link = lab.addLink({ tool: (await lab.register(address)).tool });
});
beforeEach(() => {
  requestsBefore = lab.simulator.requests.length;
});

/** Simulates a browser without partitioned cookies, which keeps no cookie in a frame. */
async function startProxy({ hostname, port }: URL): Promise<Server> {
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const onwards = sendRequest({ hostname, port, method, path, headers }, (answer) => {
      const cookies = answer.headers['set-cookie'] ?? [];
      const plain = cookies.map((cookie) => cookie.replace('; Partitioned', ''));
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'set-cookie': plain });
      answer.pipe(response);
    });
    onwards.on('error', () => response.destroy());
    request.pipe(onwards);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Opens a browser in which Lectern's pages wait for the storage until {@link expireStorage}, not for 4 seconds. */
async function openContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  await context.addInitScript(`{
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (work, ms, ...rest) => {
      if (ms !== 4000) return setTimeout(work, ms, ...rest);
      globalThis.expireStorage = () => work(...rest);
    };
  }`);
  return context;
}

/** Waits until the page in a frame waits for the storage. */
const waitingFrame = (page: Page, name: string) =>
  waitFor('a page that waits for the storage', async () => {
    const frame = page.frame(name);
    const waits = await frame?.evaluate<boolean>("'expireStorage' in globalThis");
    return waits === true ? frame : null;
  });

const expireStorage = async (page: Page, name: string) =>
  (await waitingFrame(page, name)).evaluate('expireStorage()');

interface Opening {
  storage: boolean;
  method?: 'GET' | 'POST';
  /** The URL of the lesson, by default through the proxy. */
  frame?: Link;
}

/** The platform's page that shows a lesson in a frame. */
async function openLaunch(context: BrowserContext, opening: Opening): Promise<[Page, FrameLocator]> {
  const { storage, method = 'POST', frame = link } = opening;
  const page = await context.newPage();
  await page.goto(lab.simulator.urls.url);
  const user = lab.simulator.sample.users.learner.id;
  const fields = { user, method, frame: frame.id, ...(storage && { storage: storageFrame }) };
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  await page.evaluate(`
    document.body.innerHTML = '<form method="post" action="/launches">${inputs.join('')}</form>';
    document.forms[0].submit();
  `);
  return [page, page.frameLocator('iframe.tool')];
}

const lesson = (outer: FrameLocator | Page) =>
  outer.frameLocator('iframe').getByRole('heading', { name: 'Title of s1' });

/** Counts the platform's authorization requests in this test. */
const authorizations = () =>
  lab.simulator.requests.slice(requestsBefore).filter(({ path }) => path === '/authorize').length;

/** Continues in a tab, and succeeds although the platform answers a login only once. */
async function expectButton(context: BrowserContext, tool: FrameLocator): Promise<void> {
  const button = tool.getByRole('button', { name: 'Open in a new tab' });
  await button.waitFor();
  expect(await tool.locator('code').first().textContent()).toBe('cookies_blocked');
  expect(authorizations()).toBe(0);
  const [tab] = await Promise.all([context.waitForEvent('page'), button.click()]);
  await lesson(tab).waitFor();
  expect(authorizations()).toBe(1);
  expect(new URL(tab.url()).origin).toBe(new URL(link.url).origin);
  expect(await tab.evaluate('opener')).toBeNull();
}

test('where the browser keeps a cookie, the lesson opens without an interstitial or storage; the next launch skips the check', async () => {
  const context = await openContext();
  const seen: string[] = [];
  context.on('response', (response) => {
    const { origin, pathname } = new URL(response.url());
    if (origin === lab.address && response.request().isNavigationRequest() && !pathname.includes('frame')) {
      seen.push(`${response.status()} ${pathname.split('/', 4).join('/')}`);
    }
  });
  const embed = `200 /embed/${lab.version.lessonId}`;
  const checked = ['307 /lti/login', '302 /lti/login/checked', '303 /lti/launch', embed];
  for (const [method, steps] of [
    ['POST', checked],
    ['GET', ['302 /lti/login', '303 /lti/launch', embed]],
  ] as const) {
    const [, tool] = await openLaunch(context, { storage: true, method, frame: lab.link });
    await lesson(tool).waitFor();
    expect(seen.splice(0)).toEqual(steps);
  }
});

test("without cookies a lesson opens with the secret from the platform's storage", async () => {
  const [, tool] = await openLaunch(await openContext(), { storage: true, method: 'POST' });
  await lesson(tool).waitFor();
  expect(authorizations()).toBe(1);
});

describe('without cookies a lesson opens in a new tab, where the platform', () => {
  test('has no storage', async () => {
    const context = await openContext();
    const [, tool] = await openLaunch(context, { storage: false, method: 'GET' });
    await expectButton(context, tool);
  });

  test('does not respond', async () => {
    const context = await openContext();
    const body = `document.documentElement.dataset.ready = '';`;
    await context.route('**/assets/ready.js', (route) =>
      route.fulfill({ body, contentType: 'text/javascript' }),
    );
    const [page, tool] = await openLaunch(context, { storage: true });
    await expireStorage(page, 'tool');
    await expectButton(context, tool);
    expect(await page.frame('tool')?.title()).toBe('Your browser can’t open the lesson here');
  });
});

/*
 * An attacker begins a login, knows its secret, and makes another browser send the launch. That browser must not
 * believe the attacker's messages.
 */
describe('a message with the secret is', () => {
  /** Drives a launch up to the platform's form, and returns the secret that its own browser would have stored. */
  async function beginLaunch(storageTarget: string): Promise<{ form: string; secret: string }> {
    const login = await (await loginWithoutCookie(lab, { storageTarget })).text();
    const [, json = ''] = /id="lectern-storage">(.*?)<\/script>/s.exec(login) ?? [];
    const { next, value } = JSON.parse(json) as { next: string; value: string };
    const page = await (await fetch(next)).text();
    const [, inner = ''] = /<form[^>]*>(.*?)<noscript>/s.exec(page) ?? [];
    return { form: inner, secret: value };
  }

  /** Opens a page that posts the launch to a frame, beside a silent storage frame. */
  async function openForgery(address: string, form: string): Promise<{ page: Page; victim: Frame }> {
    const page = await (await openContext()).newPage();
    await page.goto(address);
    await page.evaluate(`
      globalThis.received = [];
      addEventListener('message', ({ data }) => received.push(data));
      document.body.innerHTML = ${JSON.stringify(
        `<iframe name="lti_storage"></iframe><iframe name="victim"></iframe>
        <form method="post" target="victim" action="${lab.link.url}">${form}</form>`,
      )};
      document.forms[0].submit();
    `);
    // Its script listens from then on; an earlier message would be lost.
    return { page, victim: await waitingFrame(page, 'victim') };
  }

  /** Sends the awaited message from the surrounding page to the page in the frame. */
  async function forge(page: Page, victim: Frame, value: string): Promise<void> {
    const request = JSON.parse((await victim.textContent('#lectern-storage')) ?? '') as { messageId: string };
    await victim.evaluate(
      `void (globalThis.heard = new Promise((end) => addEventListener('message', () => end())))`,
    );
    const answer = { subject: 'lti.get_data.response', message_id: request.messageId, value };
    await page.evaluate(`frames.victim.postMessage(${JSON.stringify(answer)}, '*')`);
    // A page that believes the message navigates away.
    await victim.evaluate('heard').catch(() => undefined);
  }

  test("believed from the platform's page where that is the storage", async () => {
    const { form, secret } = await beginLaunch('_parent');
    const { page, victim } = await openForgery(lab.simulator.urls.url, form);
    await forge(page, victim, secret);
    await lesson(page.frameLocator('[name="victim"]')).waitFor();
  });

  test.each([
    ["the platform's page where a frame in it is the storage", 'lti_storage', () => lab.simulator.urls.url],
    // Not Lectern's start page, whose policy allows no forms.
    ['another page', '_parent', () => `${lab.address.replace('127.0.0.1', 'localhost')}/nowhere`],
  ])('ignored from %s, which gets no message', async (_, storageTarget, address) => {
    const { form, secret } = await beginLaunch(storageTarget);
    const { page, victim } = await openForgery(address(), form);
    await forge(page, victim, secret);
    await expireStorage(page, 'victim');
    await page.frameLocator('[name="victim"]').getByText('browser_not_recognized').waitFor();
    expect(await page.evaluate('received')).toEqual([]);
  });
});
