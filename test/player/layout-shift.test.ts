import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildLearnerToken, buildPackage, buildVersion } from '../support/factories.ts';
import { useArchiveLab } from './archive-page/archive-lab.ts';
import { demoFolder } from './archive-page/play-through.ts';

const lab = useArchiveLab();

/** A picture of 1200 x 675. */
const photo = readFile(join(demoFolder, 'media', 'a31e210c-f4b5-4da2-be43-e7b522b77f90.png'));
const drawing = (attributes: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}><rect width="100%" height="100%" fill="teal"/></svg>`,
  );

async function buildGallery() {
  const svg = { mimeType: 'image/svg+xml', extension: 'svg' };
  const bytes = await photo;
  const { path } = await buildPackage({
    lesson: {
      cover: { image: 'media:00000000-0000-4000-8000-000000000000', imageAlt: 'A photo', text: 'A cover' },
    },
    media: [
      { id: '00000000-0000-4000-8000-000000000000', bytes },
      { bytes: drawing('width="320" height="200"'), ...svg },
      { bytes: drawing('viewBox="0 0 40 20"'), ...svg },
      { bytes: drawing('width="100%" viewBox="0 0 40 10"'), ...svg },
    ],
    blocks: (ids) => {
      const [picture, sized, fluid, wide] = ids.map((id) => `media:${id}`);
      const text = (id: string, html: string) => ({
        type: 'Text',
        props: { id, html: `${html}<p>A text.</p>` },
      });
      const image = (id: string, src: string | undefined) => ({
        type: 'Image',
        props: { id, src, alt: 'A picture', caption: 'A caption' },
      });
      return [
        image('photo', picture),
        text('plain', `<p><img src="${picture}" alt="A photo"></p>`),
        text('line', `<p>In the line <img src='${sized}' alt=""> of a text.</p>`),
        text('width', `<p>A <img width=200 src="${picture}" alt=""> text</p>`),
        text('percent', `<p><img width="50%" src="${picture}" alt=""></p>`),
        text('table', `<table><tr><td><img src="${picture}" alt="" height="90"></td><td>1</td></tr></table>`),
        text('drawn', `<figure><img src="${fluid}" alt="A drawing"></figure>`),
        image('sized', sized),
        image('fluid', fluid),
        image('wide', wide),
        {
          type: 'MultipleChoice',
          props: {
            ...{ id: 'q', prompt: `<p>Which?</p><img src="${sized}" alt="">`, correct: ['a'] },
            choices: ['a', 'b'].map((id) => ({ id, html: `<img src="${sized}" alt="${id}">` })),
          },
        },
        { type: 'Callout', props: { id: 'c', body: [image('nested', picture)] } },
      ];
    },
  });
  return buildVersion(lab.api, lab.api.organization, path);
}

/** Opens a page in a window that shows all of the lesson, whose pictures wait until `load` is called. */
async function openSlowly(url: string): Promise<{ page: Page; load: () => void }> {
  let load: () => void = () => undefined;
  const loaded = new Promise<void>((resolve) => (load = resolve));
  const page = await (await lab.browser.newContext({ viewport: { width: 800, height: 9000 } })).newPage();
  await page.addInitScript(`
    window.shifts = [];
    // The rest of the page changes with a press.
    const content = '.lectern-cover, .lectern-step-body';
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) {
        const moved = sources.map(({ node }) => node?.parentElement?.closest(content) && node.parentElement.innerHTML);
        if (moved.some(Boolean)) shifts.push([value, ...moved].join(' '));
      }
    }).observe({ type: 'layout-shift', buffered: true });`);
  await page.route(/\/(?:media|assets)\//, async (route) => {
    await loaded;
    await route.continue();
  });
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  return { page, load };
}

const shiftsIn = (page: Page) =>
  Promise.all(page.frames().map((frame) => frame.evaluate<string[]>('window.shifts').catch(() => []))).then(
    (all) => all.flat(),
  );

const settled = `(async () => {
  for (const image of document.images) image.loading = 'eager';
  await Promise.all([...document.images].map((image) => image.decode()));
  for (let frames = 0; frames < 5; frames += 1) await new Promise(requestAnimationFrame);
  return [...document.images].every((image) => image.naturalWidth > 0);
})()`;

test.each(['the hosted page', 'an archive'])('pictures that load late move nothing, on %s', async (where) => {
  const version = await buildGallery();
  const url =
    where === 'an archive'
      ? (await lab.unpack(version)).urls['a plain web server']
      : `${lab.api.url}/embed/${version.lessonId}?token=${buildLearnerToken(version)}`;
  const { page, load } = await openSlowly(url);
  const lesson = where === 'an archive' ? page : page.frameLocator('iframe.lectern-embed-frame');
  await lesson.getByRole('button', { name: 'Start' }).waitFor();
  const frame = () => page.frames().at(-1) ?? page.mainFrame();
  const coverHeight = () => frame().evaluate(`document.querySelector('.lectern-cover-image')?.clientHeight`);
  expect(await coverHeight()).toBe(272);
  await lesson.getByRole('button', { name: 'Start' }).click();
  await lesson.locator('[data-lectern-block=nested] img').waitFor();
  const boxes = `[...document.querySelectorAll('.lectern-step img')].map((image) => {
    const { top, width, height } = image.getBoundingClientRect();
    return [top, width, height].map(Math.round).join(' ');
  })`;
  const before = await frame().evaluate<string[]>(boxes);
  load();
  expect(await frame().evaluate(settled)).toBe(true);
  expect(await frame().evaluate<string[]>(boxes)).toEqual(before);
  expect(await shiftsIn(page)).toEqual([]);
  await page.context().close();
});
