import { describe, expect, test } from 'vitest';
import { buildLaunchToken, buildLearnerToken } from '../../support/factories.ts';
import { publishLesson, section, step } from '../player-lessons.ts';
import { hostPage, press, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';

const lab = useEmbedLab();
const header = 60;
const screen = { width: 1280, height: 500 };
const phone = { width: 400, height: 500 };

/** Publishes two steps that are much higher than the screen. */
function publishLong() {
  const lines = { type: 'Text', props: { id: 'lines', html: '<p>Line</p>'.repeat(80) } };
  const sections = [section('one', step('s1', lines), step('s2', lines))];
  return publishLesson(lab.api, lab.api.organization, { sections });
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
async function seeBetween(learner: HostPage, part: string, from: number, to: number): Promise<void> {
  const box = async () => {
    const found = await learner.lesson.locator(part).boundingBox();
    return found === null ? null : [Math.round(found.y), Math.round(found.y + found.height)];
  };
  await expect
    .poll(async () => ((await box()) ?? [-1]).every((y) => y >= from - 1 && y <= to + 1), { timeout: 20_000 })
    .toBe(true);
}

describe('in a frame that is as high as the lesson', () => {
  test("header, outline, bar and drawer stay on the screen, below the host's header", async () => {
    const learner = await openBelowHeader();
    for (const y of [600, 1500, 300]) {
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
    for (const y of [600, 1400, 700]) {
      await page.evaluate(`scrollTo(0, ${y})`);
      await seeBetween(learner, '.lectern-header', 0, 60);
      await seeBetween(learner, '.lectern-bar', screen.height - 100, screen.height);
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
