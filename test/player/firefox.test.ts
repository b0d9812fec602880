import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Browser, ElementHandle, Frame, Page } from 'puppeteer-core';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildLearnerToken, buildVersion } from '../support/factories.ts';
import { firefoxPath, launchFirefox } from '../support/firefox.ts';
import { waitFor } from '../support/wait-for.ts';
import { useArchiveLab, ways } from './archive-page/archive-lab.ts';
import { startAttack } from './archive-page/attack.ts';
import { lookAtStep, readDemoLesson, shortenDemo } from './archive-page/play-through.ts';
import type { PlayedLesson } from './archive-page/play-through.ts';
import { ask, jsonOf } from '../support/answers.ts';

/** Clicks in the middle of the window, where the player's bar covers nothing. */
async function click(found: ElementHandle | null): Promise<void> {
  if (found === null) throw new Error('There is nothing to click');
  await found.scrollIntoView();
  await found.click();
}

/** Presses the button for the next step by keyboard, because what unfolds moves buttons away from a pointer. */
async function goOn(frame: Frame): Promise<void> {
  await (await frame.waitForSelector('.lectern-steps button:last-child'))?.press('Enter');
}

/** Plays to the end: looks at every widget, and answers a question with a pointer, and one by keyboard. */
async function playDemo(frame: Frame, { steps }: PlayedLesson): Promise<void> {
  await goOn(frame);
  for (const step of steps) {
    await waitFor(`the step ${step.title}`, async () => (await headingOf(frame)) === step.title);
    expect(await frame.evaluate(lookAtStep)).toMatchObject({ title: step.title, broken: [] });
    if (step === steps.at(-1)) {
      const choice = (await frame.$('.lectern-question:has(input[type=radio])')) ?? undefined;
      await click((await choice?.$('input')) ?? null);
      await click((await choice?.$('.lectern-actions button')) ?? null);
      const essay = (await frame.$('.lectern-question:has(textarea)')) ?? undefined;
      await (await essay?.$('textarea'))?.type('The moon.');
      await (await essay?.$('.lectern-actions button'))?.press('Enter');
    }
    await goOn(frame);
  }
  // Some questions are unanswered.
  await click(await frame.waitForSelector('dialog[open] .lectern-is-quiet'));
  await frame.waitForSelector('.lectern-end');
}

async function textOf(found: ElementHandle): Promise<string> {
  return String(await (await found.getProperty('textContent')).jsonValue());
}

async function headingOf(frame: Frame): Promise<string | undefined> {
  const heading = await frame.$('h1');
  // While a step is replaced by the next, its heading may be gone again.
  return heading ? textOf(heading).catch(() => undefined) : undefined;
}

/** Waits until the player is in one of the frames of a page. */
const playerIn = (page: Page) =>
  waitFor('the player', async () => {
    for (const frame of page.frames())
      if ((await frame.$('.lectern-steps').catch(() => null)) !== null) return frame;
    return undefined;
  });

describe.skipIf(firefoxPath === undefined)('Firefox', () => {
  const lab = useArchiveLab();
  let browser: Browser | undefined;
  afterAll(() => browser?.close());
  const open = async (url: string) => {
    browser ??= await launchFirefox();
    const page = await browser.newPage();
    await page.setViewport({ width: 1000, height: 800 });
    await page.goto(url);
    return page;
  };

  let lesson: PlayedLesson;
  let version: LessonVersion;
  beforeAll(async () => {
    const folder = await shortenDemo();
    lesson = await readDemoLesson(folder);
    version = await buildVersion(lab.api, lab.api.organization, folder);
  });

  test('plays all core widgets in a plain frame, and saves answers', async () => {
    const { api } = lab;
    const page = await open('about:blank');
    const token = buildLearnerToken(version, { userAttributes: '{"group":"7b"}' });
    const src = `${api.url}/embed/${version.lessonId}?token=${token}`;
    await page.setContent(`<iframe width="900" height="640" src="${src}"></iframe>`);
    const frame = await playerIn(page);
    const start = await frame.waitForSelector('.lectern-steps button:last-child');
    const host = await (await page.$('iframe'))?.boundingBox();
    await waitFor('Start in view', async () => {
      const box = await start?.boundingBox();
      return box && host && box.y + box.height <= host.y + host.height;
    });
    await playDemo(frame, lesson);
    const url = `${api.url}/api/public/lessons/${version.lessonId}/progress/learner-1`;
    const record = () => ask(url, { headers: api.headers }).then(jsonOf) as Promise<Record<string, unknown>>;
    await waitFor('the finished lesson', async () => (await record()).status === 'completed');
    const { maxScore, steps } = lesson;
    expect(await record()).toMatchObject({
      ...{ maxScore, totalSteps: steps.length, userAttributes: { group: '7b' } },
      progressData: { completed: true, atEnd: true },
      items: [{ stepId: steps.at(-1)?.id }, { stepId: steps.at(-1)?.id, answer: 'The moon.' }],
    });
  });

  test('plays an archive from a folder, and resumes there', async () => {
    const archive = await lab.unpack(version);
    const page = await open(archive.urls['the unpacked folder']);
    const [first, second] = lesson.steps.map(({ title }) => title);
    for (const title of [first, second]) {
      await goOn(page.mainFrame());
      await waitFor(`the step ${title}`, async () => (await headingOf(page.mainFrame())) === title);
      expect(await page.evaluate(lookAtStep)).toMatchObject({ title, broken: [] });
    }
    await page.reload();
    await waitFor('the same step', async () => (await headingOf(page.mainFrame())) === second);
  });

  test('contacts no host for a hostile custom widget in an archive', async () => {
    const { archive, contacts, close } = await startAttack(lab);
    onTestFinished(close);
    for (const way of ways) {
      const page = await open(archive.urls[way]);
      // waitForFunction evaluates in the page, which its policy forbids.
      await expect.poll(() => page.evaluate('window.isTried')).toBe(true);
    }
    expect(contacts).toEqual([]);
  });
});
