import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../support/answers.ts';
import { useApi, useBrowser, useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { storeAsset } from './store-asset.ts';

const api = useApi();

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
])('%s is served as %s, for display, under a policy that blocks scripts', async (mimeType, contentType) => {
  const { path } = await storeAsset(api, 'bytes', { mimeType });
  const { headers } = await ask(api.url + path);
  expect(headers.get('content-type')).toBe(contentType);
  expect(headers.get('content-disposition')).toBeNull();
  expectStrictPolicy(headers);
});

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
])('%s is served as a download of bytes', async (mimeType) => {
  const { path } = await storeAsset(api, '<script>alert(1)</script>', { mimeType, fileName: 'a-1.html' });
  for (const range of ['', 'bytes=0-3']) {
    const { headers } = await ask(api.url + path, { headers: { range } });
    expect(headers.get('content-type')).toBe('application/octet-stream');
    expect(headers.get('content-disposition')).toBe('attachment; filename="a-1.html"');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expectStrictPolicy(headers);
  }
});

function expectStrictPolicy(headers: Headers): void {
  const policy = headers.get('content-security-policy')?.split('; ');
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", 'sandbox']));
  expect(policy?.join()).not.toMatch(/script|allow-/);
}

describe('in a browser', () => {
  const browser = useBrowser();
  /** The requests to another site. */
  const requested: string[] = [];
  const site = useStarted(
    async () => {
      const server = createServer((request, response) => {
        requested.push(request.url ?? '');
        response.setHeader('access-control-allow-origin', '*');
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>another site</title>');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    },
    ({ server }) => Promise.resolve(void server.close()),
  );
  let tab: Page;
  beforeEach(async ({ onTestFinished }) => {
    requested.length = 0;
    tab = await browser.newPage();
    onTestFinished(() => tab.close());
  });

  /** Returns an SVG that marks itself and sends requests to the other site in every possible way. */
  const hostileSvg = () => {
    const mark = (by: string) => `document.documentElement.setAttribute('data-ran', '${by}')`;
    return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
        width="120" height="80" onload="${mark('onload')}">
      <style>@import url(${site.url}/import.css); rect { fill: rgb(0, 128, 0) }</style>
      <rect width="120" height="80" style="stroke-width: 3px"/>
      <script>${mark('script')}; fetch('${site.url}/fetch')</script>
      <script xlink:href="data:text/javascript,${mark('data')}"/>
      <script xlink:href="${site.url}/script.js"/>
      <image href="${site.url}/image" width="1" height="1"/>
      <foreignObject width="10" height="10">
        <iframe xmlns="http://www.w3.org/1999/xhtml" src="${site.url}/frame"></iframe>
        <img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="${mark('onerror')}"/>
      </foreignObject>
    </svg>`;
  };

  test('an SVG that is opened directly runs no script and sends no request, but keeps its styles', async () => {
    const svg = { mimeType: 'image/svg+xml', fileName: 'a.svg' };
    const { path } = await storeAsset(api, hostileSvg(), svg);
    const messages: string[] = [];
    tab.on('console', (message) => messages.push(message.text()));
    await tab.goto(api.url + path, { waitUntil: 'load' });
    const seen: unknown = await tab.evaluate(`({
      ran: document.documentElement.getAttribute('data-ran'),
      fill: getComputedStyle(document.querySelector('rect')).fill,
      origin: self.origin,
    })`);
    expect(seen).toEqual({ ran: null, fill: 'rgb(0, 128, 0)', origin: 'null' });
    expect(messages.join('\n')).toMatch(/Blocked script execution/);
    expect(requested).toEqual([]);
  });

  test('the same SVG does all of that without the policy', async () => {
    await tab.route('**/hostile.svg', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: hostileSvg() }),
    );
    await tab.goto(`${site.url}/hostile.svg`, { waitUntil: 'load' });
    await tab.waitForFunction(`document.documentElement.hasAttribute('data-ran')`);
    await waitFor('its requests', () =>
      ['/fetch', '/image', '/frame'].every((path) => requested.includes(path)),
    );
  });

  test('an HTML file is downloaded and not shown', async () => {
    const html = '<script>document.title = "ran"</script>';
    const { path } = await storeAsset(api, html, { mimeType: 'text/html', fileName: 'page.html' });
    const download = tab.waitForEvent('download');
    await tab.goto(api.url + path).catch(() => undefined);
    expect((await download).suggestedFilename()).toBe('page.html');
    expect(tab.url()).toBe('about:blank');
  });

  test('a page of another site shows a picture, fetches a part of it, and imports a module', async () => {
    const text = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"/>';
    const picture = await storeAsset(api, text, { mimeType: 'image/svg+xml', fileName: 'a.svg' });
    const script = { mimeType: 'text/javascript', fileName: 'a.js' };
    const module = await storeAsset(api, 'export default 42;', script);
    await tab.goto(site.url);
    const seen: unknown = await tab.evaluate(`(async () => {
      const image = new Image();
      image.src = ${JSON.stringify(api.url + picture.path)};
      await image.decode();
      const part = await fetch(image.src, { headers: { Range: 'bytes=0-3' } });
      const module = await import(${JSON.stringify(api.url + module.path)});
      const range = part.headers.get('content-range');
      return { width: image.naturalWidth, status: part.status, range, text: await part.text(), module: module.default };
    })()`);
    const range = `bytes 0-3/${text.length}`;
    expect(seen).toEqual({ width: 120, status: 206, range, text: '<svg', module: 42 });
  });
});
