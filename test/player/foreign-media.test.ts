import { beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { ask, jsonOf } from '../support/answers.ts';
import {
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
} from '../support/factories.ts';
import { useArchiveLab, ways } from './archive-page/archive-lab.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deletePrepared } from '../../shared/models/prepared-lesson.ts';
import { filesOf } from '../exports/exports.ts';
import { demoFolder } from './archive-page/play-through.ts';

const lab = useArchiveLab();
const hosts = /youtube|vimeo|ytimg|google/;

interface Video {
  src: string;
  page: string;
  frame: string;
}

const videos: Record<'YouTube' | 'Vimeo', Video> = {
  YouTube: {
    src: 'https://youtu.be/dQw4w9WgXcQ?t=1m5s',
    page: 'https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=65s',
    frame: 'https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1&playsinline=1&rel=0&start=65',
  },
  Vimeo: {
    src: 'https://player.vimeo.com/video/76979871?h=8272103f6e',
    page: 'https://vimeo.com/76979871/8272103f6e',
    frame: 'https://player.vimeo.com/video/76979871?autoplay=1&dnt=1&h=8272103f6e',
  },
};
const names = Object.keys(videos) as (keyof typeof videos)[];

/** Publishes a lesson with all videos below a long text, or with none. */
async function publish(organization: Organization, hasVideos = true): Promise<LessonVersion> {
  const html = '<p>A line of text.</p>'.repeat(60);
  const { path } = await buildPackage({
    blocks: () => [
      { type: 'Text', props: { id: 'text', html } },
      ...(hasVideos ? names : []).map((id) => ({ type: 'Video', props: { id, src: videos[id].src } })),
    ],
  });
  return buildVersion(lab.api, organization, path);
}

let allowing: Organization;
let other: Organization;
let allowed: LessonVersion;
let forbidden: LessonVersion;
beforeAll(async () => {
  ({ organization: allowing } = await buildOrganization(lab.api));
  ({ organization: other } = await buildOrganization(lab.api));
  await changeOrganization(lab.api.db, { slug: allowing.slug }, { externalVideos: true });
  [allowed, forbidden] = await Promise.all([publish(allowing), publish(other)]);
});

const embedUrl = (version: LessonVersion) =>
  `${lab.api.url}/embed/${version.lessonId}?token=${buildLearnerToken(version)}`;

/** Opens a page whose requests to the videos' hosts a stand-in answers. */
async function openPage(): Promise<{
  page: Page;
  requests: { url: string; referrer: string | undefined }[];
}> {
  const page = await (await lab.browser.newContext({ viewport: { width: 900, height: 600 } })).newPage();
  const requests: { url: string; referrer: string | undefined }[] = [];
  await page.route(hosts, async (route) => {
    requests.push({ url: route.request().url(), referrer: route.request().headers().referer });
    const body = `<!doctype html><title>Player</title><h1>Player</h1><script>document.title = origin</script>`;
    await route.fulfill({ contentType: 'text/html', body });
  });
  return { page, requests };
}

test('a page may frame the players only if the lesson uses one and the organization allows it', async () => {
  const policyOf = async (version: LessonVersion) => {
    const { headers } = await ask(embedUrl(version));
    return /frame-src \S*frame.html([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1];
  };
  const both = ' https://www.youtube-nocookie.com https://player.vimeo.com';
  expect(await policyOf(allowed)).toBe(both);
  expect(await policyOf(await publish(allowing, false))).toBe('');
  expect(await policyOf(forbidden)).toBe('');
  await changeOrganization(lab.api.db, { slug: other.slug }, { externalVideos: true });
  expect(await policyOf(forbidden)).toBe(both);
  await changeOrganization(lab.api.db, { slug: other.slug }, { externalVideos: false });
  expect(await policyOf(forbidden)).toBe('');
});

test('an allowed video contacts its host only after a press, and plays in view until it is closed', async () => {
  const { page, requests } = await openPage();
  // A frame as high as the lesson.
  await page.goto(`${lab.api.url}/health`);
  await page.setContent(
    `<iframe src="${embedUrl(allowed)}" style="inline-size: 100%; block-size: 6000px"></iframe>`,
  );
  const outer = page.frameLocator('iframe');
  const lesson = outer.frameLocator('iframe.lectern-embed-frame');
  for (const name of names) {
    const { frame } = videos[name];
    const button = lesson.getByRole('button', { name: `Play ${name} video` });
    await button.scrollIntoViewIfNeeded();
    expect(requests).toEqual([]);
    expect(page.frames().filter((one) => hosts.test(one.url()))).toEqual([]);

    await button.press('Enter');
    const dialog = outer.getByRole('dialog', { name });
    const player = dialog.locator('iframe');
    await player.contentFrame().getByRole('heading', { name: 'Player' }).waitFor();
    expect(requests).toEqual([
      { url: frame.replace(/#.*/, ''), referrer: `${new URL(lab.api.url).origin}/` },
    ]);
    // A script runs there, with the origin of the host.
    const opened = page.frames().find((one) => one.url() === frame);
    expect(await opened?.title()).toBe(new URL(frame).origin);
    expect(await player.getAttribute('sandbox')).not.toMatch(/top-navigation|downloads|forms/);
    const box = await dialog.boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(-1);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(601);

    await dialog.getByRole('button', { name: 'Close video' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => button.evaluate('document.activeElement.textContent')).toBe(`Play ${name} video`);
    expect(page.frames().filter((one) => hosts.test(one.url()))).toEqual([]);
    requests.splice(0);
  }
  await page.context().close();
});

test('where videos are not allowed, learners get links, and their hosts no requests', async () => {
  const { page, requests } = await openPage();
  await page.goto(embedUrl(forbidden));
  const lesson = page.frameLocator('iframe.lectern-embed-frame');
  for (const name of names) {
    const link = lesson.getByRole('link', { name: `Watch on ${name}` });
    await link.scrollIntoViewIfNeeded();
    expect(await link.getAttribute('href')).toBe(videos[name].page);
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  }
  expect(requests).toEqual([]);
  await page.context().close();
});

test('archives have links, and list the videos in their manifests', async () => {
  const { api } = lab;
  const version = await publish(api.organization);
  await changeOrganization(api.db, { slug: api.organization.slug }, { externalVideos: true });
  const archive = await lab.unpack(version);
  expect(archive.manifest.externalVideos).toEqual([{ url: videos.Vimeo.page }, { url: videos.YouTube.page }]);
  expect(archive.manifest.failedMedia).toEqual([]);
  for (const way of ways) {
    const { page, problems } = await lab.open(archive.urls[way]);
    for (const name of names) {
      const link = page.getByRole('link', { name: `Watch on ${name}` });
      expect(await link.getAttribute('href')).toBe(videos[name].page);
    }
    expect(problems).toEqual([]);
  }
});

describe('credits of media', () => {
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
    const lesson = page.frameLocator('iframe.lectern-embed-frame');
    const line = (name: string) => lesson.getByText(creditOf(name).text);
    await lesson.locator('.lectern-cover p', { has: line('Cover') }).waitFor();
    await lesson.getByRole('button', { name: 'Start' }).click();
    await lesson.locator('[data-lectern-block=image] p', { has: line('Image') }).waitFor();
    expect(await lesson.locator('[data-lectern-block=text] p.lectern-media-note').allTextContents()).toEqual([
      creditOf('Text').text,
    ]);
    const question = lesson.locator('[data-lectern-block=q]');
    const seen = () => question.locator('.lectern-media-note').filter({ visible: true }).allTextContents();
    expect(await seen()).toEqual([creditOf('Choice').text]);
    await question.getByRole('radio').check();
    await question.getByRole('button', { name: 'Check answer' }).click();
    expect(await seen()).toEqual(['Feedback', 'Choice', 'Explanation'].map((name) => creditOf(name).text));
    const card = lesson.locator('.lectern-card .lectern-media-note');
    expect(await card.count()).toBe(0);
    await lesson.getByRole('button', { name: 'Turn over' }).click();
    expect(await card.allTextContents()).toEqual([creditOf('Back').text]);
    const image = lesson.locator('[data-lectern-block=image] p a');
    const urls = await Promise.all([0, 1].map((index) => image.nth(index).getAttribute('href')));
    expect(urls).toEqual(['https://example.org/Image', 'https://example.org/painter']);
    expect(await image.first().getAttribute('rel')).toBe('noopener noreferrer');

    const listed = names.filter((name) => name !== 'Unused').map((name) => creditOf(name).text);
    listed[1] += ' (https://example.org/painter)';
    expect(await lesson.locator('nav .lectern-credits li').allTextContents()).toEqual(listed);
    await lesson.getByRole('button', { name: 'Finish' }).click();
    const credits = lesson.locator('.lectern-end .lectern-credits');
    await credits.getByText('Credits').click();
    expect(await credits.getByRole('listitem').allTextContents()).toEqual(listed);
    await credits.getByRole('link', { name: creditOf('Choice').text }).waitFor();
  });

  test('the pages of archives and of packages for platforms have the same list', async () => {
    const { url, headers } = lab.api;
    for (const profile of ['include=player', 'format=scorm12']) {
      const response = await fetch(`${url}${exportPath(version)}?${profile}`, { headers });
      const archive = await filesOf(Buffer.from(await response.arrayBuffer()));
      const [, index] = [...archive].find(([name]) => /(^|\/)index\.html$/.test(name)) ?? [];
      expect(String(index)).toContain(
        `"attributions":${JSON.stringify(attributions).replaceAll('<', String.raw`\u003c`)}`,
      );
    }
  });
});
