import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { releaseWidget } from '../../../shared/widgets/releases.ts';
import { firefoxPath, launchFirefox } from '../../support/firefox.ts';
import { importInto } from '../../packages/import-support.ts';
import { demoFolder } from './play-through.ts';
import { buildPackage, buildVersion } from '../../support/factories.ts';
import { useArchiveLab, ways } from './archive-lab.ts';
import type { Unpacked } from './archive-lab.ts';

const lab = useArchiveLab();

/** On this machine, so that a leak reaches no other. */
const host = '127.0.0.1';
const values = {
  server: `//${host}/share`,
  share: `\\\\${host}\\share`,
  file: `file://${host}/share`,
  wide: `file:////${host}/share`,
  mixed: `/\\${host}/share`,
  web: `http://${host}:9`,
  name: `x.png" src="//${host}/share/y.png`,
  up: '../outside',
};
const names = Object.keys(values);

/** Texts with a URL of a variable, at each place from which browsers load. */
const places = (url: string): string[] => [
  `<img src="${url}/x.png" alt="">`,
  `<img src="./media/../${url}/x.png" alt="">`,
  `<img srcset="${url}/x.png 1x, ${url}/y.png 2x" alt="">`,
  `<picture><source srcset="${url}/x.png"><img alt=""></picture>`,
  `<video poster="${url}/x.png" src="${url}/v.mp4"><source src="${url}/w.mp4"><track src="${url}/t.vtt" default></video>`,
  `<audio src="${url}/a.mp3" preload="auto"></audio>`,
  `<p style="background: url(${url}/b.png); list-style-image: url('${url}/c.png')">x</p>`,
  `<style>@import "${url}/d.css"; p { background: url(${url}/e.png) }</style>`,
  `<meta http-equiv="refresh" content="0;url=${url}/m"><base href="${url}/"><link rel="stylesheet" href="${url}/f.css">`,
  `<svg><image href="${url}/g.png" width="9" height="9"/><image xlink:href="${url}/h.png" width="9" height="9"/><use href="${url}/i.svg#a"/></svg>`,
  `<svg><linearGradient id="k" href="${url}/j.svg#a"></linearGradient><rect fill="url(${url}/l.svg#a)" filter="url(${url}/n.svg#a)" width="9" height="9"/><filter id="o"><feImage href="${url}/p.png"/></filter><rect filter="url(#o)" width="9" height="9"/></svg>`,
  `<math href="${url}/q"><mi href="${url}/r" xlink:href="${url}/s">x</mi></math>`,
  `<iframe src="${url}/t"></iframe><object data="${url}/u"></object><embed src="${url}/v"><input type="image" src="${url}/w.png">`,
  `<table background="${url}/x.png"><tr><td>x</td></tr></table>`,
  `<a href="${url}/y">a link</a>`,
  `<svg><a href="${url}/z"><text y="9">a link</text></a></svg>`,
];

describe('an archive whose variables spell URLs', () => {
  let archive: Unpacked;
  beforeAll(async () => {
    const blocks = names.flatMap((name) =>
      places(`{{${name}}}`).map((html, index) => ({ type: 'Text', props: { id: `${name}-${index}`, html } })),
    );
    const { path } = await buildPackage({
      lesson: {
        variable_definitions: names.map((name) => ({
          name,
          type: 'string',
          initialValue: values[name as keyof typeof values],
        })),
      },
      media: [
        { bytes: await readFile(join(demoFolder, 'media', 'a31e210c-f4b5-4da2-be43-e7b522b77f90.png')) },
      ],
      blocks: ([picture]) => [
        { type: 'Image', props: { id: 'own', src: `media:${picture}`, alt: 'own' } },
        ...blocks,
      ],
    });
    archive = await lab.unpack(await buildVersion(lab.api, lab.api.organization, path));
  });

  test.each(ways)('contacts no host and no computer, and shows its own pictures, from %s', async (way) => {
    const { page, problems } = await lab.open(archive.urls[way]);
    await page.evaluate(`(async () => {
      for (const image of document.images) image.loading = 'eager';
      for (const medium of document.querySelectorAll('video, audio')) medium.load();
      await Promise.allSettled([...document.images].map((image) => image.decode()));
      await new Promise(requestAnimationFrame);
    })()`);
    const own = `document.querySelector('[data-lectern-block=own] img').naturalWidth > 0`;
    expect(await page.evaluate(own)).toBe(true);
    // Files of the own folder may be missing. The sanitizer parses a base, and its document loads nothing.
    const attempts = problems.filter(
      (problem) => /^requested|violates/.test(problem) && !problem.includes('base URI'),
    );
    expect(attempts).toEqual([]);
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.lectern-rich a')].map(({ href }) => href.baseVal ?? href).filter(Boolean)`,
    );
    expect(links.filter((link) => !/^https?:/.test(new URL(link, archive.urls[way]).protocol))).toEqual([]);
  });

  test("has a policy that allows pictures and sound of the archive's folder only", async () => {
    for (const way of ways) {
      const { page } = await lab.open(archive.urls[way]);
      const refused = await page.evaluate<string[]>(`new Promise((resolve) => {
        const found = [];
        document.addEventListener('securitypolicyviolation', ({ blockedURI }) => {
          found.push(blockedURI);
          if (found.length === 3) resolve(found);
        });
        for (const src of ['../x.png', 'http://${host}:9/x.png', 'https://${host}:9/x.png']) new Image().src = src;
      })`);
      expect(refused.length).toBe(3);
    }
  });
});

test.each<[place: string, html: string]>([
  ['a picture', `<img src="file://${host}/share/x.png">`],
  ['a picture with a line break in its scheme', `<img src="fi&#10;le://${host}/share/x.png">`],
  ['a candidate', `<img srcset="file://${host}/share/x.png 2x">`],
  ['a poster', `<video poster="FILE:////${host}/x.png"></video>`],
  ['a track', `<video><track src="\\\\${host}\\share\\t.vtt"></video>`],
  ['CSS', `<p style="background: url('file://${host}/x.png')">x</p>`],
  ['a link', `<a href="file://${host}/share">x</a>`],
  ['a base', `<base href="\\\\${host}\\share\\">`],
  ['a drawing', `<svg><image xlink:href="file://${host}/x.png"/></svg>`],
  ['a formula', `<math href="file://${host}/x"><mi>x</mi></math>`],
])('a file URL in %s is rejected at import', async (_place, html) => {
  const { path } = await buildPackage({ blocks: () => [{ type: 'Text', props: { id: 'a', html } }] });
  await expect(importInto(lab.api, lab.api.organization, path)).rejects.toThrow(
    'refers to a file outside the package',
  );
});

test('a file URL in a prop is rejected at import, and one in a text is not', async () => {
  const of = (type: string, props: object) =>
    buildPackage({ blocks: () => [{ type, props: { id: 'a', ...props } }] });
  for (const props of [{ src: `file://${host}/x` }, { captions: [{ src: `\\\\${host}\\t.vtt` }] }]) {
    const { path } = await of('Video', props);
    await expect(importInto(lab.api, lab.api.organization, path)).rejects.toThrow('outside the package');
  }
  const html =
    '<p title="file:///etc">The URL file:///etc/hosts names a file, and \\\\server\\share a folder.</p>';
  const { path } = await of('Text', { html });
  expect((await importInto(lab.api, lab.api.organization, path)).warnings).toEqual([]);
});

/** Attempts of a custom widget, one in each line: `u` is a URL of the listener, `add` appends an element to the document. */
const attempts = `
fetch(u)
fetch(u, { mode: 'no-cors', method: 'POST', body: 'x' })
fetch('file://${host}/share/x')
const request = new XMLHttpRequest(); request.open('GET', u); request.send()
navigator.sendBeacon(u, 'x')
new WebSocket(u.replace('http', 'ws'))
new EventSource(u)
new WebTransport(u.replace('http', 'https'))
fetchLater(u, { activateAfter: 0 })
return import(u)
return import('file://${host}/share/x.js')
for (const code of ['importScripts(u)', 'fetch(u)', 'new WebSocket(u)']) new Worker(URL.createObjectURL(new Blob(['const u = ' + JSON.stringify(u) + ';' + code])))
new SharedWorker(u)
navigator.serviceWorker.register(u)
new AudioContext().audioWorklet.addModule(u)
new Image().src = u
new Audio(u).load()
new FontFace('r', 'url(' + u + ')').load()
add('script', { src: u })
add('video', { src: u, poster: u })
add('img', { srcset: u + ' 1x' })
add('img', { attributionSrc: u })
for (const rel of ['stylesheet', 'icon', 'manifest', 'prefetch', 'prerender', 'preconnect', 'modulepreload']) add('link', { rel, href: u })
for (const as of ['image', 'fetch', 'script', 'style', 'font']) add('link', { rel: 'preload', as, href: u })
add('style', { textContent: '@import "' + u + '"; @font-face { font-family: q; src: url(' + u + ') } p { font-family: q; background: url(' + u + '); cursor: url(' + u + '), auto }' })
add('p', { textContent: 'x', style: 'list-style: url(' + u + ')' })
add('iframe', { src: u })
add('object', { data: u })
add('embed', { src: u })
add('iframe', { srcdoc: '<img src="' + u + '"><link rel=prefetch href="' + u + '"><meta http-equiv=refresh content="0;url=' + u + '">' })
add('object', { data: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><image href="' + u + '"/></svg>' })
add('div', { innerHTML: '<svg><image href="' + u + '" width=9 height=9 /><use href="' + u + '#a"/><rect fill="url(' + u + '#a)" filter="url(' + u + '#b)" width=9 height=9 /></svg>' })
add('div', { innerHTML: '<video><track default src="' + u + '"></video>' }).firstChild.textTracks[0].mode = 'showing'
add('div', { innerHTML: '<math href="' + u + '"><mi>x</mi></math>' }).firstChild.dispatchEvent(new MouseEvent('click', { bubbles: true }))
add('a', { href: '#x', ping: u }).click()
add('a', { href: u, download: 'x' }).click()
add('form', { action: u, method: 'post' }).submit()
add('form', { action: u }).submit()
add('script', { type: 'speculation' + 'rules', textContent: JSON.stringify({ prefetch: [{ urls: [u] }], prerender: [{ urls: [u] }] }) })
add('meta', { httpEquiv: 'Content-Security-Policy', content: "img-src 'none'; report-uri " + u })
add('base', { href: u + '/' }); add('img', { src: 'y.png' })
parent.location = u
top.location = u
add('meta', { httpEquiv: 'refresh', content: '0;url=' + u }); location = u
`
  .trim()
  .split('\n');

describe('an archive with a hostile custom widget', () => {
  const contacts: string[] = [];
  const closing: (() => unknown)[] = [];
  let archive: Unpacked;
  afterAll(async () => {
    for (const close of closing) await close();
  });
  beforeAll(async () => {
    const server = createServer((socket) => {
      contacts.push('a connection');
      socket.on('error', () => undefined).on('data', (data) => contacts.push(String(data).slice(0, 80)));
    }).listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = createSocket('udp4').on('message', () => contacts.push('a UDP packet'));
    socket.bind(port, host);
    closing.push(
      () => server.close(),
      () => socket.close(),
    );
    const js = `export default { mount() {
      const u = 'http://${host}:${port}/x';
      const add = (name, props) => {
        const node = document.createElement(name);
        for (const [key, value] of Object.entries(props)) {
          if (key in node && key !== 'style') node[key] = value;
          else node.setAttribute(key, value);
        }
        return document.body.appendChild(node);
      };
      for (const attempt of attempts) {
        try { attempt(u, add)?.catch(() => undefined); } catch {}
      }
    } };
    const attempts = [${attempts.map((code) => `(u, add) => { ${code} }`).join(',')}];`;
    await releaseWidget(lab.api.db, lab.api.store, {
      ...{ organizationId: lab.api.organization._id, type: 'Attacker', css: null },
      js: bytesOf(Buffer.from(js)),
    });
    const { path } = await buildPackage({ blocks: () => [{ type: 'Attacker', props: { id: 'a' } }] });
    archive = await lab.unpack(await buildVersion(lab.api, lab.api.organization, path));
    // The last attempt navigates the frame of the widget, which the page's policy reports.
    await writeFile(
      join(archive.path, 'player', 'callbacks.js'),
      `document.addEventListener('securitypolicyviolation', ({ effectiveDirective: name }) => { if (name === 'frame-src') window.isTried = true; });`,
    );
  });

  test.each(ways)('contacts no host from %s in Chromium', async (way) => {
    const { page } = await lab.open(archive.urls[way]);
    // waitForFunction evaluates in the page, which its policy forbids.
    await expect.poll(() => page.evaluate('window.isTried')).toBe(true);
    expect(contacts).toEqual([]);
  });

  test.skipIf(firefoxPath === undefined)('contacts no host in Firefox', async () => {
    const browser = await launchFirefox();
    onTestFinished(() => browser.close());
    for (const way of ways) {
      const page = await browser.newPage();
      await page.goto(archive.urls[way]);
      // waitForFunction evaluates in the page, which its policy forbids.
      await expect.poll(() => page.evaluate('window.isTried')).toBe(true);
    }
    expect(contacts).toEqual([]);
  });
});
