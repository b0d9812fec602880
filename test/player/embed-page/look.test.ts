import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsIn } from '../../support/axe.ts';
import { buildLearnerToken, buildLaunchToken } from '../../support/factories.ts';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import { useEmbedLab, hostPage, press, seeStep, publishQuiz } from './embed-lab.ts';
import { useStarted } from '../../support/use.ts';
import type { HostPage } from './embed-lab.ts';
import { readFile } from 'node:fs/promises';
import { replaceTheme, storeThemeFile } from '../../../shared/assets/theme-files.ts';
import { ask } from '../../support/answers.ts';
import { bootOf, embedPath } from '../../embed/embed-pages.ts';

const lab = useEmbedLab();

/** Checks Lectern's page and the frame inside, and their colors also in the dark; host pages belong to their owners. */
async function faultsOf(page: Page): Promise<string[]> {
  const [, outer, inner] = page.frames();
  if (outer === undefined) throw new Error('there is no frame');
  const frames = inner === undefined ? [outer] : [outer, inner];
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
    for (const frame of frames) faults.push(...(await faultsIn(frame, rules)));
  }
  if (inner === undefined) return faults;
  // The heading and main landmark are in the inner frame.
  return faults.filter((fault) => !/^(landmark-one-main|page-has-heading-one):/.test(fault));
}

describe('the page of a hosted lesson, light and dark,', () => {
  const language = 'ar';
  const look = { locale: language, viewport: { width: 320, height: 700 } };
  const publish = () =>
    publishLesson(lab.api, lab.api.organization, {
      lesson: { language },
      sections: [section('one', step('s1', question('q1')), step('s2', heading()))],
    });

  test('has no axe-core violation during play, and offline', async () => {
    const context = await lab.browser.newContext(look);
    const { learner } = await lab.start({ version: await publish(), context });
    const main = learner.lesson.getByRole('main').getByRole('heading', { level: 1 });
    expect(await main.count()).toBe(1);
    expect(await faultsOf(learner.page)).toEqual([]);

    await context.setOffline(true);
    await learner.lesson.getByRole('radio', { name: 'b' }).check();
    await learner.lesson.locator('.lectern-question button').click();
    await learner.outer.getByRole('status').getByRole('paragraph').waitFor();
    expect(await faultsOf(learner.page)).toEqual([]);
  });

  test('has none when it cannot play or waits for a token, and is readable without scripts', async () => {
    const version = await publish();
    const context = await lab.browser.newContext(look);
    const scriptless = await lab.browser.newContext({ ...look, javaScriptEnabled: false });
    const plain = await scriptless.newPage();
    for (const token of ['', buildLearnerToken(version, { seconds: -10 })]) {
      const learner = await lab.open(version, { context, token });
      await learner.outer.getByRole('heading', { level: 1 }).waitFor();
      expect(await faultsOf(learner.page)).toEqual([]);

      await plain.goto(`${lab.api.url}/embed/${version.lessonId}${token && `?token=${token}`}`);
      await plain.getByRole('heading', { level: 1 }).waitFor();
      expect(await plain.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
      expect(await plain.locator('.loading').filter({ visible: true }).count()).toBe(0);
    }
  });
});

const header = 60;
const screen = { width: 1280, height: 500 };
const phone = { width: 400, height: 500 };

/** Publishes two steps that are much higher than the screen. */
function publishLong(more: Pick<NonNullable<Parameters<typeof publishLesson>[2]>, 'lesson'> = {}) {
  const lines = { type: 'Text', props: { id: 'lines', html: '<p>Line</p>'.repeat(80) } };
  const sections = [section('one', step('s1', lines), step('s2', lines))];
  return publishLesson(lab.api, lab.api.organization, { sections, ...more });
}

/** Waits until the host's page is as high as the lesson: before, it cannot scroll far. */
async function seeHeight(page: Page): Promise<void> {
  await page.waitForFunction('document.body.scrollHeight > 3000');
}

/** Opens a long lesson below a header that covers the top of the host's window. */
async function openBelowHeader(): Promise<HostPage> {
  const version = await publishLong();
  const context = await lab.browser.newContext({ viewport: screen });
  const learner = await lab.open(version, { context, more: `topOffset: ${header}` });
  await seeStep(learner, 's1');
  await seeHeight(learner.page);
  await learner.page.evaluate(`document.body.insertAdjacentHTML('beforeend',
    '<div style="position: fixed; inset: 0 0 auto; height: ${header}px">Header</div>')`);
  return learner;
}

/** Waits until a part of the player is between these heights of the host's window, wherever it has scrolled to. */
async function seeBetween(
  learner: Pick<HostPage, 'lesson'>,
  part: string,
  from: number,
  to: number,
): Promise<void> {
  const box = async () => {
    const found = await learner.lesson.locator(part).boundingBox();
    return found === null ? null : [Math.round(found.y), Math.round(found.y + found.height)];
  };
  await expect
    .poll(async () => ((await box()) ?? [-1]).every((y) => y >= from - 1 && y <= to + 1))
    .toBe(true);
}

describe('in a frame that is as high as the lesson', () => {
  test("header, outline, bar and drawer stay on the screen, below the host's header", async () => {
    const learner = await openBelowHeader();
    for (const y of [1500, 300]) {
      await learner.page.evaluate(`scrollTo(0, ${y})`);
      await seeBetween(learner, '.lectern-header', header, header + 60);
      await seeBetween(learner, '.lectern-side', header, screen.height);
      await seeBetween(learner, '.lectern-bar', screen.height - 100, screen.height);
    }
    await press(learner, 'Next');
    await seeStep(learner, 's2');
    await seeBetween(learner, 'h1', header, screen.height);

    await learner.page.setViewportSize(phone);
    await learner.page.evaluate('scrollTo(0, 900)');
    await seeBetween(learner, '.lectern-bar', phone.height - 80, phone.height);
    await press(learner, 'Contents');
    await seeBetween(learner, '.lectern-drawer', header, phone.height);
  });

  test('also on a platform that follows the height, but reports nothing', async () => {
    const version = await publishLong();
    const page = await lab.browser.newPage({ viewport: screen });
    await page.goto(lab.hostOrigin);
    await page.evaluate(`{
      const frame = document.createElement('iframe');
      Object.assign(frame, { width: 1200, height: 400 });
      frame.src = '${lab.api.url}/embed/${version.lessonId}?token=${buildLaunchToken(version)}';
      addEventListener('message', ({ data }) => { if (data.subject === 'lti.frameResize') frame.height = data.height; });
      document.getElementById('course').append(frame);
    }`);
    const learner = hostPage(page);
    await seeStep(learner, 's1');
    await seeHeight(page);
    for (const y of [1400, 700]) {
      await page.evaluate(`scrollTo(0, ${y})`);
      await seeBetween(learner, '.lectern-header', 0, 60);
      await seeBetween(learner, '.lectern-bar', screen.height - 100, screen.height);
    }
  });
});

/** The first recipe of docs/embed.md, and what course pages make of it. */
const frames = {
  plain: (src: string, size: string) => `<iframe id="plain" src="${src}" ${size}></iframe>`,
  unscrollable: (src: string, size: string) =>
    `<iframe id="unscrollable" src="${src}" ${size} scrolling="no"></iframe>`,
  nested: (src: string, size: string) =>
    `<iframe id="nested" srcdoc="<body style='margin: 0'><iframe style='border: 0' src='${src}' ${size.replaceAll('"', "'")}></iframe>" ${size}></iframe>`,
};

describe('in a frame of a fixed height, Start and Next are in view, and all of a step can be reached', () => {
  const objectives = Array<string>(20).fill('Read a tide table. '.repeat(5));
  const version = useStarted(() => publishLong({ lesson: { cover: { objectives } } }));

  const [width, height] = [320, 480];
  const names = ['plain', 'unscrollable', 'nested'] as const;
  test(`${width} × ${height} pixels`, async () => {
    const src = (name: (typeof names)[number]) => {
      const token = buildLearnerToken(version, { learnerId: `${name}-${width}` });
      return `${lab.api.url}/embed/${version.lessonId}?token=${token}`;
    };
    const page = await lab.browser.newPage({ viewport: { width: 1300, height: 3 * height + 100 } });
    await page.goto(lab.hostOrigin);
    const size = `width="${width}" height="${height}" style="display: block; border: 0"`;
    const html = names.map((name) => frames[name](src(name), size));
    await page.evaluate(`document.body.innerHTML = ${JSON.stringify(html.join(''))}`);
    for (const name of names) {
      const frame = page.locator(`#${name}`);
      const outer = name === 'nested' ? frame.contentFrame().locator('iframe') : frame;
      const learner = { lesson: outer.contentFrame().frameLocator('iframe') };
      const top = (await frame.boundingBox())?.y ?? NaN;
      const see = (part: string) => seeBetween(learner, part, top, top + height);
      await see('.lectern-steps button:last-child');
      await press(learner, 'Start');
      await seeStep(learner, 's1');
      await see('h1');
      await see('.lectern-steps button:last-child');

      await page.mouse.move(width / 2, top + height / 2);
      await page.mouse.wheel(0, 50_000);
      await see('.lectern-step p >> nth=-1');
      await see('.lectern-steps button:last-child');
      await press(learner, 'Next');
      await seeStep(learner, 's2');
      await see('h1');
    }
  });
});

test('in a window of its own, the lesson fills it and scrolls', async () => {
  const version = await publishLong();
  const page = await lab.browser.newPage({ viewport: screen });
  await page.goto(`${lab.api.url}/embed/${version.lessonId}?token=${buildLearnerToken(version)}`);
  const lesson = page.frameLocator('iframe');
  await seeStep({ lesson }, 's1');
  expect((await page.locator('iframe').boundingBox())?.height).toBe(screen.height);
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(screen.height);
  const frame = page.frames().at(-1);
  await frame?.evaluate('scrollTo(0, 900)');
  await expect.poll(async () => (await lesson.locator('.lectern-header').boundingBox())?.y).toBe(0);
});

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url));

/** Runs in the lesson's frame. */
const lookInFrame = `(() => {
  const button = getComputedStyle(document.querySelector('.lectern-steps .lectern-button:last-child'));
  const logo = document.querySelector('.lectern-logo');
  return {
    button: button.backgroundColor,
    radius: button.borderRadius,
    page: getComputedStyle(document.querySelector('.lectern-lesson')).backgroundColor,
    logo: logo && logo.complete && logo.naturalWidth > 0 ? logo.alt : null,
  };
})()`;

test('learners see the theme in the frame, and the host page chooses light or dark', async () => {
  const { db, store, organization, url } = lab.api;
  const version = await publishQuiz(lab);
  const bytes = await read('demo/lesson/media/1619c428-4d84-4e65-8c2b-8847b8aea3b0.png');
  const logo = await storeThemeFile(db, store, { kind: 'logo', name: 'logo.png', bytes });
  const theme = { color: '#00695c', radius: 1, scheme: 'dark', logo, logoAlt: 'Harbor School' } as const;
  await replaceTheme(db, { organizationId: organization._id, id: organization._id }, null, theme);

  const page = await ask(url + embedPath(version));
  expect(page.body.toString()).toMatch(/<html [^>]*data-lectern-scheme="dark"/);
  const boot = bootOf(page) as { theme: { css: string; logo: { src: string } } };
  const served = await ask(new URL(boot.theme.logo.src, url).href);
  expect(served.body.equals(bytes)).toBe(true);
  expect(served.headers.get('cache-control')).toMatch(/^public, max-age=\d{7}, immutable$/);
  expect(served.headers.get('content-security-policy')).toContain('sandbox');
  // For as long as a browser may keep it, the URL is the same.
  expect((bootOf(await ask(url + embedPath(version))) as typeof boot).theme.logo.src).toBe(
    boot.theme.logo.src,
  );

  const host = await lab.open(version, { more: "colorScheme: 'light'" });
  await seeStep(host, 's1');
  const look = () => host.lesson.locator('body').evaluate(lookInFrame);
  await expect
    .poll(look)
    .toEqual({ button: 'rgb(0, 105, 92)', radius: '1px', page: 'rgb(255, 255, 255)', logo: 'Harbor School' });
  // Only the console, a page of the lesson's origin, may send a stylesheet.
  const foreign = { source: 'lectern', v: 1, type: 'theme', css: ':root{--lectern-radius:9px}' };
  await host.page.evaluate(
    `document.querySelector('iframe').contentWindow.postMessage(${JSON.stringify(foreign)}, '*')`,
  );
  await host.page.evaluate(`document.body.style.colorScheme = 'dark'; embed.setColorScheme('page')`);
  await expect.poll(look).toMatchObject({ page: 'rgb(18, 23, 29)' });
  expect(await look()).toMatchObject({ radius: '1px' });
});

test("an organization's font loads in the frame and in the page around it", async () => {
  const { db, store, organization } = lab.api;
  const name = 'Temml.woff2';
  const bytes = await read(`node_modules/temml/dist/${name}`);
  const fontFile = await storeThemeFile(db, store, { kind: 'fontFile', name, bytes });
  const version = await publishQuiz(lab);
  await replaceTheme(db, { organizationId: organization._id, id: version.lessonId }, null, { fontFile });
  const host = await lab.open(version);
  await seeStep(host, 's1');
  for (const frame of [host.lesson, host.outer]) {
    const load = `document.fonts.load('16px "Lectern Theme"').then(([face]) => face?.status)`;
    await expect.poll(() => frame.locator('body').evaluate(load)).toBe('loaded');
  }
});
