import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import type { Browser, ElementHandle, Frame, Page } from 'puppeteer-core';
import { stepBlocks } from '../../shared/lessons/blocks.ts';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import { readBlanks } from '../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { readMatching } from '../../shared/lessons/scoring/matching.ts';
import { readQuestion } from '../../shared/lessons/scoring/multiple-choice.ts';
import { readNumeric } from '../../shared/lessons/scoring/numeric.ts';
import { readOrdering } from '../../shared/lessons/scoring/ordering.ts';
import { readTrueFalse } from '../../shared/lessons/scoring/true-false.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildLearnerToken, buildVersion } from '../support/factories.ts';
import { firefoxPath, launchFirefox } from '../support/firefox.ts';
import { waitFor } from '../support/wait-for.ts';
import { useArchiveLab, ways } from './archive-page/archive-lab.ts';
import { startAttack } from './archive-page/attack.ts';
import { demoFolder, lookAtStep, readDemoLesson } from './archive-page/play-through.ts';
import type { PlayedLesson } from './archive-page/play-through.ts';
import { ask, jsonOf } from '../support/answers.ts';

/** Answers a question as a learner does, without checking the answer. */
const fillIn: Record<string, (question: ElementHandle, props: unknown) => Promise<void>> = {
  async MultipleChoice(question, props) {
    for (const id of readQuestion(props).correct) await pressIn(question, `input[value="${id}"]`);
  },
  TrueFalse: (question, props) => pressIn(question, `input[value="${readTrueFalse(props).correct}"]`),
  async FillInTheBlanks(question, props) {
    const fields = await question.$$('.lectern-blank-input');
    for (const [index, { answers }] of readBlanks(props).blanks.entries()) {
      await fields[index]?.type(answers[0] ?? '');
    }
  },
  async Matching(question, props) {
    const { items, options } = readMatching(props);
    for (const [index, { match }] of items.entries()) {
      const html = options.find(({ id }) => id === match)?.html ?? '';
      await click(await withText(question, '.lectern-option', html));
      await click((await question.$$('.lectern-pair-slot'))[index]);
    }
  },
  async Ordering(question, props) {
    for (const [index, { html }] of readOrdering(props).items.entries()) {
      const texts = async () => Promise.all((await question.$$('.lectern-order-row')).map(textOf));
      while ((await texts()).findIndex((text) => text.includes(html)) > index) {
        await pressIn(await withText(question, '.lectern-order-row', html), '.lectern-order-up');
      }
    }
  },
  async Numeric(question, props) {
    await (await question.$('input'))?.type(String(readNumeric(props).correct));
  },
  async OpenResponse(question) {
    await (await question.$('textarea'))?.type('The moon.');
  },
};

async function pressIn(parent: ElementHandle | Frame, selector: string): Promise<void> {
  const found = await parent.$(selector);
  if (found === null) throw new Error(`There is no ${selector}`);
  await click(found);
}

/** Clicks in the middle of the window, where the player's bar covers nothing. */
async function click(found: ElementHandle | undefined): Promise<void> {
  if (found === undefined) throw new Error('There is nothing to click');
  await found.scrollIntoView();
  await found.click();
}

async function withText(
  parent: ElementHandle | Frame,
  selector: string,
  text: string,
): Promise<ElementHandle> {
  // Some widgets load after the step is shown.
  return waitFor(`${selector} with the text ${text}`, async () => {
    for (const found of await parent.$$(selector)) {
      if ((await textOf(found)).includes(text)) return found;
    }
    return undefined;
  });
}

/** Presses the button for the next step by keyboard, as for answers: what unfolds moves buttons away from a pointer. */
async function goOn(frame: Frame): Promise<void> {
  await (await frame.waitForSelector('.lectern-steps button:last-child'))?.press('Enter');
}

/** Plays to the end: checks every picture and recording, and answers every question correctly. */
async function playDemo(frame: Frame, { steps }: PlayedLesson): Promise<void> {
  await goOn(frame);
  for (const step of steps) {
    await waitFor(`the step ${step.title}`, async () => (await headingOf(frame)) === step.title);
    expect(await frame.evaluate(lookAtStep)).toMatchObject({ title: step.title, broken: [] });
    for (const { block } of stepBlocks(step.content)) {
      const fill = fillIn[block.type ?? ''];
      if (fill === undefined) continue;
      const prompt = String(block.props.prompt).replace(/<[^>]*>/g, '');
      const question = await withText(frame, '.lectern-question', prompt);
      await fill(question, block.props);
      await (await question.$('.lectern-actions button'))?.press('Enter');
    }
    await goOn(frame);
  }
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

/** Writes a package of the demo with two steps: one of each core widget, and then of each question. Returns its folder. */
async function shortenDemo(): Promise<string> {
  const folder = await mkdtemp(join(inject('runDir'), 'demo-'));
  await cp(demoFolder, folder, { recursive: true });
  const { content, steps } = await readDemoLesson();
  const blocks = steps.flatMap((step) => step.content.content);
  const byType = [...new Map(blocks.map((block) => [block.type, block])).values()];
  const isQuestion = ({ type = '' }: Block) => type in fillIn;
  const shortened = [byType.filter((block) => !isQuestion(block)), byType.filter(isQuestion)].map(
    (chosen, index) => ({ ...steps[index], content: { root: { props: {} }, content: chosen } }),
  );
  const [section] = content.sections;
  const lesson = { ...content, sections: [{ ...section, steps: shortened }] };
  await writeFile(join(folder, 'lesson.json'), JSON.stringify(lesson));
  return folder;
}

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

  test('plays all core widgets in a plain frame, and saves every answer', async () => {
    const { api } = lab;
    const page = await open('about:blank');
    const openedAt = Date.now();
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
    const { maxScore, steps, questions, content } = lesson;
    const { startedAt, completedAt, ...saved } = await record();
    expect(saved).toMatchObject({
      ...{ score: maxScore, maxScore, totalSteps: steps.length, userAttributes: { group: '7b' } },
      currentSectionIndex: content.sections.length - 1,
      progressData: { completed: true, atEnd: true },
      items: questions.map(({ stepId, widgetId, answer }) => ({ stepId, widgetId, answer })),
    });
    const [started = 0, completed = 0] = [startedAt, completedAt].map((time) => Date.parse(String(time)));
    expect(started).toBeGreaterThan(openedAt - 60_000);
    expect(completed).toBeGreaterThanOrEqual(started);
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
