import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask } from '../support/answers.ts';
import { storeAsset } from './assets.ts';

let harness: Harness;
let api: string;
beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
});
afterAll(() => harness.close());

describe('a file is served as what it is, to be shown', () => {
  test.each([
    ['image/png', 'image/png'],
    ['image/svg+xml', 'image/svg+xml'],
    ['IMAGE/JPEG', 'image/jpeg'],
    ['image/vnd.microsoft.icon', 'image/vnd.microsoft.icon'],
    ['audio/mpeg', 'audio/mpeg'],
    ['video/mp4', 'video/mp4'],
    ['font/woff2', 'font/woff2'],
    ['application/ogg', 'application/ogg'],
    ['application/json', 'application/json; charset=utf-8'],
    ['text/vtt', 'text/vtt; charset=utf-8'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/css', 'text/css; charset=utf-8'],
    ['text/javascript', 'text/javascript; charset=utf-8'],
  ])('when it is %s', async (mimeType, contentType) => {
    const { path } = await storeAsset(harness, 'bytes', { mimeType });
    const { headers } = await ask(api + path);
    expect(headers.get('content-type')).toBe(contentType);
    expect(headers.get('content-disposition')).toBeNull();
  });
});

describe('a file is bytes to be saved', () => {
  test.each([
    'text/html',
    'application/xhtml+xml',
    'application/xml',
    'text/xml',
    'image/x+xml',
    'audio/x+xml',
    'text/xsl',
    'multipart/x-mixed-replace',
    'application/javascript',
    'application/pdf',
    'application/x-shockwave-flash',
    'message/rfc822',
    'made/up',
    'no type',
  ])('when it is %s', async (mimeType) => {
    const { path } = await storeAsset(harness, '<script>alert(1)</script>', {
      mimeType,
      fileName: 'a-1.html',
    });
    for (const range of ['', 'bytes=0-3']) {
      const answer = await ask(api + path, { headers: { range } });
      expect(answer.headers.get('content-type')).toBe('application/octet-stream');
      expect(answer.headers.get('content-disposition')).toBe('attachment; filename="a-1.html"');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

test('every file has a policy under which nothing in it may run or ask', async () => {
  for (const mimeType of ['image/svg+xml', 'image/png', 'text/html', 'text/javascript']) {
    const { path } = await storeAsset(harness, 'bytes', { mimeType });
    const policy = (await ask(api + path)).headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", 'sandbox']));
    expect(policy?.join()).not.toContain('script');
    expect(policy?.join()).not.toContain('allow-');
  }
});

describe('in a browser', () => {
  let browser: Browser;
  /** Another site, which notes what it is asked for. */
  let site: Server;
  let siteAddress: string;
  const asked: string[] = [];
  let tab: Page;

  beforeAll(async () => {
    browser = await launchBrowser();
    site = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>another site</title>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    siteAddress = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser.close();
    site.close();
  });
  beforeEach(async ({ onTestFinished }) => {
    tab = await browser.newPage();
    onTestFinished(() => tab.close());
  });

  /** Marks itself, and asks the other site, by every way that an SVG has. */
  const hostileSvg = () => {
    const mark = (by: string) => `document.documentElement.setAttribute('data-ran', '${by}')`;
    return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
        width="120" height="80" onload="${mark('onload')}">
      <style>@import url(${siteAddress}/import.css); rect { fill: rgb(0, 128, 0) }</style>
      <rect width="120" height="80" style="stroke-width: 3px"/>
      <script>${mark('script')}; fetch('${siteAddress}/fetch')</script>
      <script xlink:href="data:text/javascript,${mark('data')}"/>
      <script xlink:href="${siteAddress}/script.js"/>
      <image href="${siteAddress}/image" width="1" height="1"/>
      <foreignObject width="10" height="10">
        <iframe xmlns="http://www.w3.org/1999/xhtml" src="${siteAddress}/frame"></iframe>
        <img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="${mark('onerror')}"/>
      </foreignObject>
    </svg>`;
  };

  test('an SVG that is opened by itself runs no script and asks for nothing, but keeps its styles', async () => {
    const svg = { mimeType: 'image/svg+xml', fileName: 'a.svg' };
    const { path } = await storeAsset(harness, hostileSvg(), svg);
    const told: string[] = [];
    tab.on('console', (message) => told.push(message.text()));
    asked.length = 0;
    await tab.goto(api + path, { waitUntil: 'load' });
    const seen: unknown = await tab.evaluate(`({
      ran: document.documentElement.getAttribute('data-ran'),
      fill: getComputedStyle(document.querySelector('rect')).fill,
      origin: self.origin,
    })`);
    expect(seen).toEqual({ ran: null, fill: 'rgb(0, 128, 0)', origin: 'null' });
    expect(told.join('\n')).toMatch(/Blocked script execution/);
    expect(asked).toEqual([]);
  });

  test('the same SVG does all of that where nothing forbids it', async () => {
    asked.length = 0;
    await tab.route('**/hostile.svg', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: hostileSvg() }),
    );
    await tab.goto(`${siteAddress}/hostile.svg`, { waitUntil: 'load' });
    await tab.waitForFunction(`document.documentElement.hasAttribute('data-ran')`);
    await waitFor('its requests', () => ['/fetch', '/image', '/frame'].every((path) => asked.includes(path)));
  });

  test('an HTML file is saved and not shown', async () => {
    const html = '<script>document.title = "ran"</script>';
    const { path } = await storeAsset(harness, html, { mimeType: 'text/html', fileName: 'page.html' });
    const download = tab.waitForEvent('download');
    await tab.goto(api + path).catch(() => undefined);
    expect((await download).suggestedFilename()).toBe('page.html');
    expect(tab.url()).toBe('about:blank');
  });

  test('a page of another site shows a picture, fetches a part of it, and imports a module', async () => {
    const text = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"/>';
    const picture = await storeAsset(harness, text, { mimeType: 'image/svg+xml', fileName: 'a.svg' });
    const script = { mimeType: 'text/javascript', fileName: 'a.js' };
    const module = await storeAsset(harness, 'export default 42;', script);
    await tab.goto(siteAddress);
    const seen: unknown = await tab.evaluate(`(async () => {
      const image = new Image();
      image.src = ${JSON.stringify(api + picture.path)};
      await image.decode();
      const part = await fetch(image.src, { headers: { Range: 'bytes=0-3' } });
      const module = await import(${JSON.stringify(api + module.path)});
      const range = part.headers.get('content-range');
      return { width: image.naturalWidth, status: part.status, range, text: await part.text(), module: module.default };
    })()`);
    const range = `bytes 0-3/${text.length}`;
    expect(seen).toEqual({ width: 120, status: 206, range, text: '<svg', module: 42 });
  });
});
