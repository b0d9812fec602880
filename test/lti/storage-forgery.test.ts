import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { loginWithoutCookie, useLaunchLab } from './support/launch-lab.ts';

/*
 * An attacker begins a login, knows its secret, and makes another browser send the launch. That
 * browser must not believe the attacker's messages.
 */

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const lab = useLaunchLab({ hostname: 'localhost' });
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/**
 * Sends a launch up to the platform's form, and returns what its own browser's storage would
 * contain.
 */
async function beginLaunch(storageTarget: string): Promise<{ form: string; secret: string }> {
  const { simulator, link } = lab;
  const { learner: user } = simulator.sample.users;
  const login = await (await loginWithoutCookie(simulator, { user, link, storageTarget })).text();
  const [, json = ''] = /id="lectern-storage">(.*?)<\/script>/s.exec(login) ?? [];
  const { next, value } = JSON.parse(json) as { next: string; value: string };
  const page = await (await fetch(next)).text();
  const [, inner = ''] = /<form[^>]*>(.*?)<noscript>/s.exec(page) ?? [];
  return { form: inner, secret: value };
}

/**
 * A page that sends the launch in a frame, with a silent frame beside it; both have a stopped
 * clock.
 */
async function sendFrom(address: string, form: string): Promise<{ page: Page; victim: Frame }> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(address);
  await context.clock.install({ time: 0 });
  await context.clock.pauseAt(1000);
  await page.evaluate(`
    globalThis.told = [];
    addEventListener('message', ({ data }) => told.push(data));
    document.body.innerHTML = ${JSON.stringify(
      `<iframe name="lti_storage"></iframe><iframe name="victim"></iframe>
      <form method="post" target="victim" action="${lab.link.url}">${form}</form>`,
    )};
    document.forms[0].submit();
  `);
  await page.frameLocator('[name="victim"]').getByRole('status').waitFor();
  const victim = page.frame('victim');
  if (victim === null) throw new Error('no frame');
  return { page, victim };
}

/**
 * Sends the awaited message from the surrounding page to the page in the frame, then lets it time
 * out.
 */
async function answerFrom(page: Page, victim: Frame, secret: string): Promise<void> {
  const { messageId } = JSON.parse((await victim.textContent('#lectern-storage')) ?? '') as {
    messageId: string;
  };
  // The message arrives after the page's script has run.
  await victim.evaluate(
    `void (globalThis.heard = new Promise((end) => addEventListener('message', () => end())))`,
  );
  const answer = { subject: 'lti.get_data.response', message_id: messageId, value: secret };
  await page.evaluate(`frames.victim.postMessage(${JSON.stringify(answer)}, '*')`);
  // If the page believed the message, it has navigated away by now.
  await victim.evaluate('heard').catch(() => undefined);
  await page.context().clock.runFor(4000);
  await page.context().clock.resume();
}

const inFrame = (page: Page) => page.frameLocator('[name="victim"]');

test("the page believes the platform's page where that is the storage", async () => {
  const { form, secret } = await beginLaunch('_parent');
  const { page, victim } = await sendFrom(lab.simulator.addresses.url, form);
  await answerFrom(page, victim, secret);
  await inFrame(page).frameLocator('iframe').getByRole('heading', { name: 'Title of s1' }).waitFor();
});

test("the page does not believe the platform's page where a frame in it is the storage", async () => {
  const { form, secret } = await beginLaunch('lti_storage');
  const { page, victim } = await sendFrom(lab.simulator.addresses.url, form);
  await answerFrom(page, victim, secret);
  await inFrame(page).getByText('browser_not_recognized').waitFor();
});

test('a page that is not the platform’s gets no messages, and its messages are ignored', async () => {
  const { form, secret } = await beginLaunch('_parent');
  // Not the start page, whose policy allows no forms.
  const elsewhere = `${lab.address.replace('127.0.0.1', 'localhost')}/nowhere`;
  const { page, victim } = await sendFrom(elsewhere, form);
  await answerFrom(page, victim, secret);
  await inFrame(page).getByText('browser_not_recognized').waitFor();
  expect(await page.evaluate('told')).toEqual([]);
});
