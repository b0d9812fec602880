import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Document } from './openapi-checks.ts';

let harness: Harness;
let address: string;
let browser: Browser;
let document: Document;

beforeAll(async () => {
  [harness, browser] = await Promise.all([startHarness(), launchBrowser()]);
  address = await harness.startApi();
  document = jsonOf(await ask(`${address}/openapi.json`)) as Document;
});
afterAll(async () => {
  await browser.close();
  await harness.close();
});

test.each([
  ['a desk', 1280],
  ['a phone', 390],
])(
  'on %s it shows every endpoint and answer, asks no other address, and nothing is complained of',
  async (_where, width) => {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${address}/docs`);

    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, { operationId, summary, responses }] of Object.entries(item)) {
        const section = page.locator(`#${operationId}`);
        expect(await section.locator('h3').innerText()).toBe(summary);
        expect(await section.locator('.address').innerText()).toMatch(method.toUpperCase());
        expect(await section.locator('.address code').innerText()).toBe(path);
        const answers = await section.locator('.answer .status').allInnerTexts();
        expect(answers).toEqual(Object.keys(responses));
      }
    }
    const dead = await page.evaluate<string[]>(`
      [...document.querySelectorAll('a[href^="#"]')]
        .map((link) => link.getAttribute('href'))
        .filter((href) => document.getElementById(href.slice(1)) === null)`);
    expect(dead).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(requests).toEqual([`${address}/docs`]);
    expect(complaints).toEqual([]);
    await page.close();
  },
);

test('it can be used with the keyboard, and by those who listen', async () => {
  const page = await browser.newPage();
  await page.goto(`${address}/docs`);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  const answer = page.locator('#signToken .answer details').first();
  await answer.locator('summary').first().focus();
  await page.keyboard.press('Enter');
  expect(await answer.getAttribute('open')).toBe('');
  expect(await page.getByRole('navigation', { name: 'Contents' }).count()).toBe(1);
  expect(await page.getByRole('region', { name: 'Sign an embed token' }).count()).toBe(1);
  expect(await page.locator('html').getAttribute('lang')).toBe('en');
  await page.close();
});

test('a click selects a command as a whole', async () => {
  const page = await browser.newPage();
  await page.goto(`${address}/docs#signToken`);
  await page.locator('#signToken .command').click();
  const selected = await page.evaluate<string>('getSelection().toString()');
  expect(selected.split('\n')[0]).toBe('curl "$LECTERN/api/public/sign-token" \\');
  expect(selected).toContain('"Authorization: Bearer $CREDENTIALS"');
  expect(selected.trim().split('\n').at(-1)).toBe('END');
  expect(await page.locator('#commands ~ .command').first().innerText()).toContain('export CREDENTIALS=');
  await page.close();
});

test('on a phone the contents open over the page, and close with the choice of one', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${address}/docs`);
  const contents = page.locator('#contents');
  expect(await contents.isVisible()).toBe(false);
  await page.getByRole('link', { name: 'Contents' }).click();
  expect(await contents.isVisible()).toBe(true);
  await contents.getByRole('link', { name: 'Record what the learner did' }).click();
  expect(await contents.isVisible()).toBe(false);
  expect(await page.locator('#writePlayerSession-title').isVisible()).toBe(true);
  await page.close();
});

test('nothing in it can run: there is no script, and its policy allows none', async () => {
  const { headers, body } = await ask(`${address}/docs`);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|script-src|https?:/);
  expect(body.toString('utf8')).not.toMatch(/<script|\son\w+=|javascript:/i);
});
