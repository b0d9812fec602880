import { describe, expect, test } from 'vitest';
import { buildLaunchToken, buildLearnerToken } from '../../support/factories.ts';
import { useStarted } from '../../support/use.ts';
import { publishLesson, section, step } from '../player-lessons.ts';
import { hostPage, press, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';

const lab = useEmbedLab();
const header = 60;
const screen = { width: 1280, height: 500 };
const phone = { width: 400, height: 500 };

/** Publishes two steps that are much higher than the screen. */
function publishLong(more: Pick<NonNullable<Parameters<typeof publishLesson>[2]>, 'lesson'> = {}) {
  const lines = { type: 'Text', props: { id: 'lines', html: '<p>Line</p>'.repeat(80) } };
  const sections = [section('one', step('s1', lines), step('s2', lines))];
  return publishLesson(lab.api, lab.api.organization, { sections, ...more });
}

/** Opens a long lesson below a header that covers the top of the host's window. */
async function openBelowHeader(): Promise<HostPage> {
  const version = await publishLong();
  const context = await lab.browser.newContext({ viewport: screen });
  const learner = await lab.open(version, { context, more: `topOffset: ${header}` });
  await seeStep(learner, 's1');
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
    await page.waitForFunction('document.body.scrollHeight > 3000');
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

  test.each<[width: number, height: number, names: (keyof typeof frames)[]]>([
    [320, 480, ['plain', 'unscrollable', 'nested']],
    [1000, 400, ['plain']],
  ])('%i × %i pixels: %j', async (width, height, names) => {
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
