import { beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { setExternalVideos } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { ask } from '../support/answers.ts';
import { buildLearnerToken, buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { useArchiveLab, ways } from './archive-page/archive-lab.ts';

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
  await setExternalVideos(lab.api.db, allowing.slug, true);
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
  await setExternalVideos(lab.api.db, other.slug, true);
  expect(await policyOf(forbidden)).toBe(both);
  await setExternalVideos(lab.api.db, other.slug, false);
  expect(await policyOf(forbidden)).toBe('');
});

describe.each(['a window', 'a frame as high as the lesson'])('in %s,', (where) => {
  test('an allowed video contacts its host only after a press, and plays in view until it is closed', async () => {
    const { page, requests } = await openPage();
    if (where === 'a window') await page.goto(embedUrl(allowed));
    else {
      await page.goto(`${lab.api.url}/health`);
      await page.setContent(
        `<iframe src="${embedUrl(allowed)}" style="inline-size: 100%; block-size: 6000px"></iframe>`,
      );
    }
    const outer = where === 'a window' ? page : page.frameLocator('iframe');
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
      await expect
        .poll(() => button.evaluate('document.activeElement.textContent'))
        .toBe(`Play ${name} video`);
      expect(page.frames().filter((one) => hosts.test(one.url()))).toEqual([]);
      requests.splice(0);
    }
    await page.context().close();
  });
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
  await setExternalVideos(api.db, api.organization.slug, true);
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
