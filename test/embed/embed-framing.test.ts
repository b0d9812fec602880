import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setOrganizationOrigins } from '../../shared/models/organization.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { launchBrowser } from '../support/browser.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { embedPath } from './embed-pages.ts';
import { publishLesson } from '../player/player-lessons.ts';

let harness: Harness;
let api: string;
let browser: Browser;
/** Origins of two sites that embed lessons. */
let sites: string[];
const end: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  browser = await launchBrowser();
  sites = await Promise.all(['localhost', 'lms.localhost'].map(startSite));
});
afterAll(async () => {
  await browser.close();
  for (const close of end) await close();
  await harness.close();
});

/** Starts a site of one page, with a frame for the URL in its query. */
async function startSite(name: string): Promise<string> {
  const server = createServer((request, response) => {
    const src = new URL(request.url ?? '', 'http://site').searchParams.get('src') ?? '';
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><title>A course</title><iframe src="${src.replaceAll('"', '')}"></iframe>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  end.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://${name}:${(server.address() as AddressInfo).port}`;
}

async function buildLesson(origins: string[]): Promise<LessonVersion> {
  const { organization } = await buildOrganization(harness);
  await setOrganizationOrigins(harness.db, organization.slug, origins);
  return publishLesson(harness, organization);
}

/** Returns the frame of a site's page once it has loaded anything. */
async function frameOn(page: Page, site: string, src: string): Promise<Frame> {
  await page.goto(`${site}/?src=${encodeURIComponent(api + src)}`);
  const [frame] = page.mainFrame().childFrames();
  if (frame === undefined) throw new Error('The page has no frame');
  await frame.waitForLoadState();
  return frame;
}

/** Returns whether a browser shows a lesson's page in a page of each site. */
async function shownOn(src: string): Promise<boolean[]> {
  const shown = [];
  for (const site of sites) {
    const page = await browser.newPage();
    const frame = await frameOn(page, site, src);
    // A browser shows an error page of its own in place of a blocked frame.
    shown.push((await frame.locator('link[type="application/json+oembed"]').count()) === 1);
    await page.close();
  }
  return shown;
}

describe('a browser shows a lesson in pages of', () => {
  test('every origin, where the organization lists none', async () => {
    expect(await shownOn(embedPath(await buildLesson([])))).toEqual([true, true]);
  });

  test('the one origin on the list', async () => {
    expect(await shownOn(embedPath(await buildLesson(sites.slice(1))))).toEqual([false, true]);
  });

  test('each of several origins on the list, and no other', async () => {
    const others = ['https://a.example', 'https://b.example:8443'];
    expect(await shownOn(embedPath(await buildLesson([...others, ...sites])))).toEqual([true, true]);
    expect(await shownOn(embedPath(await buildLesson(others)))).toEqual([false, false]);
  });

  test('every origin, where an error page belongs to no known organization', async () => {
    const version = await buildLesson(['https://a.example']);
    const expired = buildLearnerToken(version, { seconds: -1 });
    expect(await shownOn(embedPath(version, expired))).toEqual([true, true]);
    expect(await shownOn(`/embed/${version.lessonId}`)).toEqual([true, true]);
  });
});

test('the inner frame has no origin, and loads its files in a page of any site', async () => {
  const version = await buildLesson([]);
  const page = await browser.newPage();
  const frame = await frameOn(page, sites[0] ?? '', embedPath(version));
  const inner = await frame.waitForSelector('iframe').then((element) => element.contentFrame());
  await inner?.waitForSelector('h2, h1');
  expect(await inner?.evaluate('origin')).toBe('null');
  const refused = (code: string) =>
    inner?.evaluate(`(() => { try { return ${code} } catch (error) { return error.name } })()`);
  expect(await refused('document.cookie')).toBe('SecurityError');
  expect(await refused('localStorage.length')).toBe('SecurityError');
  expect(await refused('parent.document.title')).toBe('SecurityError');
  const reach = (path: string) =>
    inner?.evaluate(`fetch(${JSON.stringify(path)}).then(() => 'reached', () => 'refused')`);
  // Pages of every origin may read these; the frame may read only files of lessons.
  expect(await reach(`${api}/content/v1/a/b/1/c/media/x`)).toBe('reached');
  expect(await reach(`${api}/openapi.json`)).toBe('refused');
  expect(await reach(`${api}/api/public/lessons/${version.lessonId}/session`)).toBe('refused');
  expect(await reach(`${sites[1]}/`)).toBe('refused');
  await page.close();
});

describe('a notice', () => {
  test.each([
    ['light', 320],
    ['dark', 320],
    ['light', 1280],
  ] as const)('is readable without scripts, in a %s window of %i pixels', async (colorScheme, width) => {
    const version = await buildLesson([]);
    const context = await browser.newContext({
      javaScriptEnabled: false,
      colorScheme,
      viewport: { width, height: 480 },
      locale: 'ar',
    });
    const page = await context.newPage();
    for (const path of [
      `/embed/${version.lessonId}`,
      embedPath(version, buildLearnerToken(version, { seconds: -1 })),
      embedPath(version),
    ]) {
      await page.goto(api + path);
      const heading = page.getByRole('heading', { level: 1 });
      expect(await heading.isVisible()).toBe(true);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(await page.locator('.loading').filter({ visible: true }).count()).toBe(0);
      expect(await contrastOf(page)).toBeGreaterThan(7);
    }
    await context.close();
  });
});

/** Returns the contrast of text and background as in WCAG 2. */
async function contrastOf(page: Page): Promise<number> {
  const colours = await page.evaluate<string[]>(
    '[getComputedStyle(document.querySelector("h1")).color, getComputedStyle(document.body).backgroundColor]',
  );
  const [one = 0, other = 0] = colours.map((colour) => {
    const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((text) => {
      const part = Number(text) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}
