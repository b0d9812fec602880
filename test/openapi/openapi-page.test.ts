import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { buildOrganization } from '../support/factories.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Document } from './openapi-checks.ts';
import { useApi, useBrowser } from '../support/use.ts';

const api = useApi();
const browser = useBrowser();

test('readers find an endpoint by searching and try it out, and the page loads nothing from elsewhere', async () => {
  const { credentials } = await buildOrganization(api);
  const page = await browser.newPage();
  const errors: string[] = [];
  const requests: string[] = [];
  // Requests that the page's policy blocks are errors in the console.
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
  await page.goto(`${api.url}/docs`);
  await page.getByRole('textbox', { name: 'Bearer Token' }).fill(credentials);

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Enter search query' }).fill('list lessons');
  await page.getByRole('option', { name: /^Operation:\s+List lessons/ }).click();
  const endpoint = page.getByRole('region', { name: 'List lessons' });
  await endpoint.getByText(`curl ${api.url}/api/lessons`).waitFor();

  await page.getByRole('button', { name: 'Test Request (get /api/lessons)' }).click();
  await page.getByRole('button', { name: 'Send get request' }).click();
  const response = page.getByRole('region', { name: 'Response', exact: true });
  await response.getByRole('link', { name: '200 OK' }).waitFor();
  await response.getByText('nextCursor').waitFor();

  expect(requests).toEqual(
    ['/docs', '/docs/scalar.js', '/openapi.json', '/api/lessons'].map((path) => `GET ${api.url}${path}`),
  );
  expect(errors).toEqual([]);
});

test('the policy of the page allows scripts and connections only of this service', async () => {
  const policy = (await ask(`${api.url}/docs`)).headers.get('content-security-policy') ?? '';
  const directives = policy.split('; ');
  expect(directives).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]),
  );
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
});

test('the script of the page is compressed, has an ETag, and ships with its license', async () => {
  const url = `${api.url}/docs/scalar.js`;
  const folder = new URL('../../player/dist/api-reference/', import.meta.url);
  const script = await readFile(new URL('scalar.js', folder));
  const headers = { 'accept-encoding': 'br' };
  const response = await ask(url, { headers });
  expect(response.headers.get('content-encoding')).toBe('br');
  expect(Number(response.headers.get('content-length'))).toBeLessThan(1_000_000);
  expect(response.body.equals(script)).toBe(true);
  const etag = response.headers.get('etag') ?? '';
  expect((await ask(url, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(304);
  expect(await readFile(new URL('scalar.LICENSE.txt', folder), 'utf8')).toContain('MIT License');
});

test('the document explains the variables that its samples use', async () => {
  const document = jsonOf(await ask(`${api.url}/openapi.json`)) as Document & {
    info: { description: string };
  };
  const samples = JSON.stringify(document.paths).match(/\$[A-Z_]{4,}/g) ?? [];
  expect(samples).not.toEqual([]);
  for (const variable of new Set(samples)) expect(document.info.description).toContain(`\`${variable}\``);
});
