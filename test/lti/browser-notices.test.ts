import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { faultsIn } from '../support/axe.ts';
import { launchBrowser } from '../support/browser.ts';
import { loginWithoutCookie, useLaunchLab } from './support/launch-lab.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const lab = useLaunchLab();
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Sends a launch from a browser other than the one that began the login. */
async function sendForeignLaunch(page: Page): Promise<void> {
  const { action, fields } = await lab.simulator.driveLaunch({
    user: lab.simulator.sample.users.learner,
    link: lab.link,
  });
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  await page.setContent(
    `<form method="post" action="${action}">${inputs.join('')}<button>Send</button></form>`,
  );
  await page.getByRole('button').click();
  await page.getByText('browser_not_recognized').waitFor();
}

/**
 * Opens the login page in a frame without cookies, in the state that its script shows when the
 * storage is missing.
 */
async function openBlockedLogin(page: Page, storageTarget: string | null): Promise<void> {
  const { simulator, link } = lab;
  const user = simulator.sample.users.learner;
  const answer = await loginWithoutCookie(simulator, { user, link, storageTarget });
  const body = await answer.text();
  await page.route(answer.url, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(answer.url);
  await page.getByText('cookies_blocked').waitFor();
}

const looks: BrowserContextOptions[] = ['en', 'ar'].flatMap((locale) => [
  { locale, colorScheme: 'light', viewport: { width: 320, height: 600 } },
  { locale, colorScheme: 'dark', viewport: { width: 1280, height: 600 } },
]);

describe.each(looks)(
  'in a $colorScheme window of $viewport.width pixels, in $locale, axe-core finds no violation',
  (look) => {
    test.each([
      ['that a selection has expired', (page: Page) => page.goto(`${lab.address}/lti/select/x`)],
      ['that the browser is unknown', sendForeignLaunch],
      ['that the browser keeps no cookies, with a button', (page: Page) => openBlockedLogin(page, null)],
      ['that the storage fails, too', (page: Page) => openBlockedLogin(page, '_parent')],
    ])('in the page that says %s', async (_what, open) => {
      const page = await (await browser.newContext(look)).newPage();
      await open(page);
      expect(await faultsIn(page)).toEqual([]);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(width).toBeLessThanOrEqual(0);
      await page.context().close();
    });
  },
);
