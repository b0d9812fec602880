import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { faultsIn } from '../support/axe.ts';
import { useBrowser, useOrigin } from '../support/use.ts';
import { loginWithoutCookie, useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();
const browser = useBrowser();

/** Sends a launch from a browser other than the one that began the login. */
async function sendForeignLaunch(page: Page): Promise<void> {
  const { action, fields } = await lab.drive();
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  await page.setContent(
    `<form method="post" action="${action}">${inputs.join('')}<button>Send</button></form>`,
  );
  await page.getByRole('button').click();
  await page.getByText('browser_not_recognized').waitFor();
}

/** Opens the login page in a frame without cookies, in the state that its script shows when the storage is missing. */
async function openBlockedLogin(page: Page): Promise<void> {
  const answer = await loginWithoutCookie(lab, { storageTarget: null });
  const body = await answer.text();
  await page.route(answer.url, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(answer.url);
  await page.getByText('cookies_blocked').waitFor();
}

const small: BrowserContextOptions = { colorScheme: 'light', viewport: { width: 320, height: 600 } };
const arabic: BrowserContextOptions = { locale: 'ar', colorScheme: 'dark' };

test.each<[string, BrowserContextOptions, (page: Page) => Promise<unknown>]>([
  ['a selection has expired', arabic, (page) => page.goto(`${lab.address}/lti/select/x`)],
  ['the browser is unknown', small, sendForeignLaunch],
  ['the browser keeps no cookies, with a button', arabic, openBlockedLogin],
])('the page that says that %s fits, and axe-core finds no violation in it', async (_what, look, open) => {
  const page = await (await browser.newContext(look)).newPage();
  await open(page);
  expect(await faultsIn(page)).toEqual([]);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  expect(width).toBeLessThanOrEqual(0);
  await page.context().close();
});

describe('the last page of a registration', () => {
  const platform = useOrigin();
  /** On another site than the platform. */
  const ended = () =>
    `${lab.address.replace('127.0.0.1', 'localhost')}/lti/register/unknown?openid_configuration=https%3A%2F%2Flms.example`;

  test('has a close button in a frame and in a window, which asks the platform to close it', async () => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    platform.serve('/platform', '<!doctype html><title>Platform</title>', { contentType: 'text/html' });
    await page.goto(platform.url('/platform'));
    await page.evaluate("messages = []; addEventListener('message', ({ data }) => messages.push(data))");
    await page.evaluate(`document.body.innerHTML = '<iframe src="${ended()}"></iframe>'`);
    await page.frameLocator('iframe').getByRole('button', { name: 'Close' }).click();
    await page.waitForFunction('messages.length === 1');
    const opened = page.waitForEvent('popup');
    await page.evaluate(`void open(${JSON.stringify(ended())})`);
    await (await opened).getByRole('button', { name: 'Close' }).click();
    await page.waitForFunction('messages.length === 2');
    const closing = { subject: 'org.imsglobal.lti.close' };
    expect(await page.evaluate('messages')).toEqual([closing, closing]);
  });

  test('has no close button without an opener, and axe-core finds no violation in it', async () => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.goto(ended());
    expect(await page.getByRole('heading').textContent()).toBe('This invitation does not exist');
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await faultsIn(page)).toEqual([]);
  });
});
