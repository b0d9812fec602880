import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { importInto } from '../../packages/import-support.ts';
import { demoFolder } from './play-through.ts';
import { buildPackage, buildVersion } from '../../support/factories.ts';
import { useArchiveLab, ways } from './archive-lab.ts';
import type { Unpacked } from './archive-lab.ts';
import { host, startAttack } from './attack.ts';

const lab = useArchiveLab();

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

test('an archive with a hostile custom widget contacts no host, from a server and from a folder', async () => {
  const { archive, contacts, close } = await startAttack(lab);
  onTestFinished(close);
  for (const way of ways) {
    const { page } = await lab.open(archive.urls[way]);
    // waitForFunction evaluates in the page, which its policy forbids.
    await expect.poll(() => page.evaluate('window.isTried')).toBe(true);
  }
  expect(contacts).toEqual([]);
});
