import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildLearnerToken, buildPackage, buildVersion } from '../support/factories.ts';
import { useOrigin } from '../support/use.ts';
import { useArchiveLab } from './archive-page/archive-lab.ts';
import { demoFolder } from './archive-page/play-through.ts';

const origin = useOrigin();
const lab = useArchiveLab(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host }));

/** A picture of 1200 x 675. */
const photo = readFile(join(demoFolder, 'media', 'a31e210c-f4b5-4da2-be43-e7b522b77f90.png'));
const drawing = (attributes: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}><rect width="100%" height="100%" fill="teal"/></svg>`,
  );

/** Builds a lesson with pictures in the package, or at another host. */
async function buildGallery(isExternal = false) {
  const svg = { mimeType: 'image/svg+xml', extension: 'svg' };
  const media = [
    {
      id: '00000000-0000-4000-8000-000000000000',
      bytes: await photo,
      mimeType: 'image/png',
      extension: 'png',
    },
    { bytes: drawing('width="320" height="200"'), ...svg },
    { bytes: drawing('viewBox="0 0 40 20"'), ...svg },
    { bytes: drawing('width="100%" viewBox="0 0 40 10"'), ...svg },
  ];
  const urls = media.map(({ bytes, mimeType, extension }, index) => {
    const path = `/${index}.${extension}`;
    origin.serve(path, bytes, { contentType: mimeType });
    return origin.url(path);
  });
  const image = isExternal ? urls[0] : `media:${media[0]?.id}`;
  const { path } = await buildPackage({
    lesson: { cover: { image, imageAlt: 'A photo', text: 'A cover' } },
    media: isExternal ? [] : media,
    blocks: (ids) => {
      const [picture, sized, fluid, wide] = isExternal ? urls : ids.map((id) => `media:${id}`);
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

const hostedUrl = (version: LessonVersion) =>
  `${lab.api.url}/embed/${version.lessonId}?token=${buildLearnerToken(version)}`;

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

/** Opens the gallery, and loads its pictures when all of it is on the page. Returns the boxes before and after. */
async function loadLate(url: string) {
  const { page, load } = await openSlowly(url);
  const lesson = page.frameLocator('iframe.lectern-embed-frame');
  await lesson.getByRole('button', { name: 'Start' }).waitFor();
  const frame = page.frames().at(-1) ?? page.mainFrame();
  const coverHeight = () => frame.evaluate(`document.querySelector('.lectern-cover-image')?.clientHeight`);
  expect(await coverHeight()).toBe(272);
  await lesson.getByRole('button', { name: 'Start' }).click();
  await lesson.locator('[data-lectern-block=nested] img').waitFor();
  const boxes = () =>
    frame.evaluate<Record<string, string>>(`Object.fromEntries(
      [...document.querySelectorAll('.lectern-step img')].map((image, index) => {
        const { top, width, height } = image.getBoundingClientRect();
        const block = image.closest('[data-lectern-block]').dataset.lecternBlock;
        return [block + index, [top, width, height].map(Math.round).join(' ')];
      }))`);
  const before = await boxes();
  load();
  expect(await frame.evaluate(settled)).toBe(true);
  const after = await boxes();
  const shifts = await shiftsIn(page);
  await page.context().close();
  return { before, after, shifts };
}

test('pictures that load late move nothing', async () => {
  const { before, after, shifts } = await loadLate(hostedUrl(await buildGallery()));
  expect(after).toEqual(before);
  expect(shifts).toEqual([]);
});

test('pictures of other hosts move nothing once a learner has loaded them, and before that those beside no text', async () => {
  const version = await buildGallery(true);
  const first = await loadLate(hostedUrl(version));
  const sizes = (boxes: Record<string, string>) =>
    Object.entries(boxes).flatMap(([name, box]) =>
      /^(?:line|width|percent|table)/.test(name) ? [] : [[name, box.replace(/^\S+ /, '')]],
    );
  expect(sizes(first.after)).toEqual(sizes(first.before));
  const second = await loadLate(hostedUrl(version));
  expect(second.after).toEqual(second.before);
  expect(second.shifts).toEqual([]);
});
