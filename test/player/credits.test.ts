import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrameLocator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { deletePrepared } from '../../shared/models/prepared-lesson.ts';
import { filesOf } from '../exports/exports.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { buildLearnerToken, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { useArchiveLab } from './archive-page/archive-lab.ts';
import { demoFolder } from './archive-page/play-through.ts';

const lab = useArchiveLab();

const names = ['Cover', 'Image', 'Text', 'Choice', 'Feedback', 'Explanation', 'Back', 'Unused'] as const;
const creditOf = (name: string) => ({
  text: `${name} by <b>A. Painter</b>`,
  url: `https://example.org/${name}`,
  portfolioUrl: name === 'Image' ? 'https://example.org/painter' : '',
});

const ids = names.map((_name, index) => `0000000${index}-0000-4000-8000-000000000000`);
let version: LessonVersion;
let attributions: object[];
beforeAll(async () => {
  const bytes = await readFile(join(demoFolder, 'media', 'a31e210c-f4b5-4da2-be43-e7b522b77f90.png'));
  const [cover, image, text, choice, feedback, explanation, back] = ids.map((id) => `media:${id}`);
  const { path } = await buildPackage({
    lesson: { cover: { image: cover, imageAlt: 'A picture', text: 'A cover' } },
    media: names.map((name, index) => ({ id: ids[index], bytes, attribution: creditOf(name) })),
    blocks: () => [
      { type: 'Image', props: { id: 'image', src: image, alt: 'A picture' } },
      {
        type: 'Text',
        props: { id: 'text', html: `<p>A text <img src="${text}" alt=""><img src="${text}" alt=""></p>` },
      },
      {
        type: 'MultipleChoice',
        props: {
          id: 'q',
          prompt: '?',
          choices: [
            { id: 'a', html: `<img src="${choice}" alt="A">`, feedback: `<img src="${feedback}" alt="F">` },
          ],
          correct: ['a'],
          explanation: `<img src="${explanation}" alt="E">`,
        },
      },
      {
        type: 'Flashcards',
        props: { id: 'cards', cards: [{ front: 'Front', back: `<img src="${back}" alt="B">` }] },
      },
    ],
  });
  version = await buildVersion(lab.api, lab.api.organization, path);
  const used = names.filter((name) => name !== 'Unused');
  attributions = used.map((name, index) => ({ mediaId: ids[index], ...creditOf(name) }));
});

/** Plays the lesson, and expects each credit beside its picture, and all in the lists beside the steps and at the end. */
async function seeCredits(page: Page | FrameLocator): Promise<void> {
  const line = (name: string) => page.getByText(creditOf(name).text);
  await page.locator('.lectern-cover p', { has: line('Cover') }).waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.locator('[data-lectern-block=image] p', { has: line('Image') }).waitFor();
  expect(await page.locator('[data-lectern-block=text] p.lectern-media-note').allTextContents()).toEqual([
    creditOf('Text').text,
  ]);
  const question = page.locator('[data-lectern-block=q]');
  const seen = () => question.locator('.lectern-media-note').filter({ visible: true }).allTextContents();
  expect(await seen()).toEqual([creditOf('Choice').text]);
  await question.getByRole('radio').check();
  await question.getByRole('button', { name: 'Check answer' }).click();
  expect(await seen()).toEqual(['Feedback', 'Choice', 'Explanation'].map((name) => creditOf(name).text));
  const card = page.locator('.lectern-card .lectern-media-note');
  expect(await card.count()).toBe(0);
  await page.getByRole('button', { name: 'Turn over' }).click();
  expect(await card.allTextContents()).toEqual([creditOf('Back').text]);
  const image = page.locator('[data-lectern-block=image] p a');
  const urls = await Promise.all([0, 1].map((index) => image.nth(index).getAttribute('href')));
  expect(urls).toEqual(['https://example.org/Image', 'https://example.org/painter']);
  expect(await image.first().getAttribute('rel')).toBe('noopener noreferrer');

  const listed = names.filter((name) => name !== 'Unused').map((name) => creditOf(name).text);
  listed[1] += ' (https://example.org/painter)';
  expect(await page.locator('nav .lectern-credits li').allTextContents()).toEqual(listed);
  await page.getByRole('button', { name: 'Finish' }).click();
  const credits = page.locator('.lectern-end .lectern-credits');
  await credits.getByText('Credits').click();
  expect(await credits.getByRole('listitem').allTextContents()).toEqual(listed);
  await credits.getByRole('link', { name: creditOf('Choice').text }).waitFor();
}

test('player data and manifests also have the credits of media that an earlier package brought', async () => {
  const { api } = lab;
  const [id] = ids;
  const blocks = () => [{ type: 'Image', props: { id: 'image', src: `media:${id}`, alt: '' } }];
  const { path } = await buildPackage({ blocks });
  const borrowing = await buildVersion(api, api.organization, path);
  const token = buildLearnerToken(borrowing);
  const url = `${api.url}/api/public/lessons/${borrowing.lessonId}/player-data?token=${token}`;
  const credits = [{ mediaId: id, ...creditOf('Cover') }];
  expect(jsonOf(await ask(url))).toMatchObject({ lesson: { attributions: credits } });
  expect((await lab.unpack(borrowing)).manifest.attributions).toEqual(credits);
});

test('player data and manifests have the credits of the media that the lesson uses', async () => {
  const { api } = lab;
  const token = buildLearnerToken(version);
  const playerData = async () =>
    jsonOf(await ask(`${api.url}/api/public/lessons/${version.lessonId}/player-data?token=${token}`));
  expect(await playerData()).toMatchObject({ lesson: { attributions } });
  expect((await lab.unpack(version)).manifest.attributions).toEqual(attributions);
  // As after an upgrade.
  await deletePrepared(api.db, version._id);
  expect(await playerData()).toMatchObject({ lesson: { attributions } });
});

test('the hosted player shows them beside each picture and in a list', async () => {
  const page = await (await lab.browser.newContext()).newPage();
  await page.goto(`${lab.api.url}/embed/${version.lessonId}?token=${buildLearnerToken(version)}`);
  await seeCredits(page.frameLocator('iframe.lectern-embed-frame'));
});

test('archives and packages for platforms show the same list', async () => {
  const archive = await lab.unpack(version);
  const { page, problems } = await lab.open(archive.urls['the unpacked folder']);
  await seeCredits(page);
  expect(problems).toEqual([]);
  const { url, headers } = lab.api;
  const response = await fetch(`${url}${exportPath(version)}?format=scorm12`, { headers });
  const scorm = await filesOf(Buffer.from(await response.arrayBuffer()));
  expect(String(scorm.get('index.html'))).toContain(
    `"attributions":${JSON.stringify(attributions).replaceAll('<', String.raw`\u003c`)}`,
  );
});
