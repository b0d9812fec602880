import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { faultsIn } from '../support/axe.ts';
import { launchBrowser } from '../support/browser.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
let harness: Harness;
let browser: Browser;
let platform: Origin;
/** Applies to the last page of successful and failed registrations. */
let ended: string;

beforeAll(async () => {
  browser = await launchBrowser();
  harness = await startHarness();
  const address = (await harness.startApi()).replace('127.0.0.1', 'localhost');
  ended = `${address}/lti/register/unknown?openid_configuration=${encodeURIComponent('https://lms.example')}`;
  platform = await startOrigin();
  platform.serve('/', '<!doctype html><title>Platform</title>', { contentType: 'text/html' });
});
afterAll(async () => {
  await browser.close();
  await platform.close();
  await harness.close();
});

/** A page of the platform that collects the messages it gets. */
async function openPlatform(): Promise<Page> {
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(platform.url('/'));
  await page.evaluate("messages = []; addEventListener('message', ({ data }) => messages.push(data))");
  return page;
}

/** Returns the messages of a platform's page, once there are any. */
async function messagesTo(page: Page): Promise<unknown> {
  await page.waitForFunction('messages.length > 0');
  return page.evaluate('messages');
}

const closing = { subject: 'org.imsglobal.lti.close' };

test('the close button in a frame asks the platform to close it', async () => {
  const page = await openPlatform();
  await page.evaluate(`document.body.innerHTML = '<iframe src="${ended}"></iframe>'`);
  await page.frameLocator('iframe').getByRole('button', { name: 'Close' }).click();
  expect(await messagesTo(page)).toEqual([closing]);
});

test('the close button in a window asks the platform to close it', async () => {
  const page = await openPlatform();
  const opened = page.waitForEvent('popup');
  await page.evaluate(`void open(${JSON.stringify(ended)})`);
  await (await opened).getByRole('button', { name: 'Close' }).click();
  expect(await messagesTo(page)).toEqual([closing]);
});

test('a page without an opener has no close button, and axe-core finds no violation in it', async () => {
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(ended);
  expect(await page.getByRole('heading').textContent()).toBe('This invitation does not exist');
  expect(await page.getByRole('button').count()).toBe(0);
  expect(await faultsIn(page)).toEqual([]);
});
