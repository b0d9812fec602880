import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frame, Locator, Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { stepBlocks } from '../../../shared/lessons/blocks.ts';
import type { Block, LessonContent, Step } from '../../../shared/lessons/lesson-content.ts';
import { readBlanks } from '../../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { readMatching } from '../../../shared/lessons/scoring/matching.ts';
import { readQuestion } from '../../../shared/lessons/scoring/multiple-choice.ts';
import { readNumeric } from '../../../shared/lessons/scoring/numeric.ts';
import { readOrdering } from '../../../shared/lessons/scoring/ordering.ts';
import { readTrueFalse } from '../../../shared/lessons/scoring/true-false.ts';
import { orderedSections } from '../../../shared/lessons/totals.ts';
import { packageRoot } from '../../../shared/platform/paths.ts';
import { rightAnswers } from '../../support/right-answers.ts';

/** The package of the demo lesson, which has all kinds of core widgets and media. */
export const demoFolder = join(packageRoot, 'demo', 'lesson');

/** What a player's script and an integrator's record should have after {@link playThrough}. */
export interface PlayedLesson {
  content: LessonContent;
  /** In playing order. */
  steps: Step[];
  /** Widgets that take an answer, in playing order. */
  questions: { stepId: string; widgetId: string; widgetType: string; answer: unknown }[];
  maxScore: number;
}

/** Returns a lesson with two steps: one of each type of widgets in another lesson, and then one of each question. */
export function oneOfEach(content: LessonContent): LessonContent {
  const steps = orderedSections(content).flatMap((section) => section.steps);
  const blocks = steps.flatMap((step) => step.content.content);
  const byType = blocks.filter((block) => block === blocks.find(({ type }) => type === block.type));
  const isQuestion = ({ type = '' }: Block) => type in rightAnswers;
  const chosen = [byType.filter((block) => !isQuestion(block)), byType.filter(isQuestion)];
  const [section] = content.sections;
  const shortened = chosen.map((each, index) => {
    return { ...steps[index], order_index: index, content: { root: { props: {} }, content: each } };
  });
  return { ...content, sections: [{ ...section, steps: shortened }] } as LessonContent;
}

/** Writes the package of the demo lesson with {@link oneOfEach} of its widgets. Returns its folder. */
export async function shortenDemo(): Promise<string> {
  const folder = await mkdtemp(join(inject('runDir'), 'demo-'));
  await cp(demoFolder, folder, { recursive: true });
  const { content } = await readDemoLesson(folder);
  await writeFile(join(folder, 'lesson.json'), JSON.stringify(oneOfEach(content)));
  return folder;
}

/** @param folder a package of the demo lesson, or of a part of it */
export async function readDemoLesson(folder: string): Promise<PlayedLesson> {
  const content = JSON.parse(await readFile(join(folder, 'lesson.json'), 'utf8')) as LessonContent;
  const steps = orderedSections(content).flatMap((section) =>
    section.steps.toSorted((one, other) => one.order_index - other.order_index),
  );
  const scored = Object.keys(rightAnswers).filter((type) => type !== 'OpenResponse');
  const points = steps.flatMap((step) => blocksOf(step, ...scored));
  return {
    content,
    steps,
    questions: steps.flatMap((step) =>
      blocksOf(step, ...Object.keys(rightAnswers)).map(({ type = '', props }) => ({
        stepId: step.id,
        widgetId: String(props.id),
        widgetType: type,
        answer: rightAnswers[type]?.(props),
      })),
    ),
    maxScore: points.reduce((sum, { props }) => sum + Number(props.points ?? 1), 0),
  };
}

/** Uses a phone's viewport, because rendering a page with many pictures costs as much as it shows. */
export const smallScreen = { width: 390, height: 664 };

/** Plays from the current step to the end: checks every picture and recording, and answers every question correctly. */
export async function playThrough(page: Page | Frame, { steps }: PlayedLesson): Promise<void> {
  await page.locator('.lectern-step-title').waitFor();
  if (await page.locator('.lectern-cover').isVisible()) {
    await page.getByRole('button', { name: 'Start', exact: true }).click();
  }
  for (const [index, step] of steps.entries()) {
    // Titles may repeat, and texts are the lesson's own.
    const position = new RegExp(`\\b${index + 1}\\b.*\\b${steps.length}\\b`);
    await page.locator('.lectern-place > :first-child').filter({ hasText: position }).waitFor();
    const { pictures, recordings, ...seen } = await page.evaluate<Record<string, unknown>>(lookAtStep);
    expect(seen).toEqual({ title: step.title, broken: [] });
    expect(pictures).toBeGreaterThanOrEqual(blocksOf(step, 'Image').length);
    expect(recordings).toBeGreaterThanOrEqual(blocksOf(step, 'Video', 'Audio').length);
    await answerStep(page, step);
    await press(page, page.locator('.lectern-steps button').last());
  }
  await page.locator('.lectern-end').waitFor();
}

/** Runs in the page: waits until everything on the current step has loaded or failed. */
export const lookAtStep = `(async () => {
  const pictures = [...document.querySelectorAll('.lectern-step img')];
  const recordings = [...document.querySelectorAll('.lectern-step :is(video, audio)')];
  const broken = [];
  for (const picture of pictures) {
    // One below the fold would load only after scrolling.
    picture.loading = 'eager';
    await picture.decode().catch(() => undefined);
    if (!(picture.naturalWidth > 0)) broken.push(picture.src);
  }
  for (const recording of recordings) {
    if (recording.readyState === 0 && recording.error === null) {
      await new Promise((resolve) => {
        recording.addEventListener('loadedmetadata', resolve);
        recording.addEventListener('error', resolve);
      });
    }
    if (!(recording.duration > 0)) broken.push(recording.src);
  }
  const title = document.querySelector('.lectern-step-title').textContent;
  return { title, broken, pictures: pictures.length, recordings: recordings.length };
})()`;

/** Answers every question of the current step. */
async function answerStep(page: Page | Frame, step: Step): Promise<void> {
  for (const { type = '', props } of blocksOf(step, ...Object.keys(rightAnswers))) {
    const prompt = String(props.prompt).replace(/<[^>]*>/g, '');
    const question = page.locator('.lectern-question').filter({ hasText: prompt });
    await fillIn[type]?.(question, props);
    await press(page, question.locator('.lectern-actions button'));
  }
}

/** Gives the right answer to a question, without checking it. */
const fillIn: Record<string, (question: Locator, props: unknown) => Promise<void>> = {
  async MultipleChoice(question, props) {
    for (const id of readQuestion(props).correct) await question.locator(`input[value="${id}"]`).check();
  },
  async TrueFalse(question, props) {
    await question.locator(`input[value="${readTrueFalse(props).correct}"]`).check();
  },
  async FillInTheBlanks(question, props) {
    for (const [index, { answers }] of readBlanks(props).blanks.entries()) {
      await question
        .locator('.lectern-blank-input')
        .nth(index)
        .fill(answers[0] ?? '');
    }
  },
  async Matching(question, props) {
    const { items, options } = readMatching(props);
    for (const [index, { match }] of items.entries()) {
      const option = options.find(({ id }) => id === match)?.html ?? '';
      await question.locator('.lectern-option').filter({ hasText: option }).click();
      await question.locator('.lectern-pair-slot').nth(index).click();
    }
  },
  async Ordering(question, props) {
    const rows = question.locator('.lectern-order-row');
    for (const [index, { html }] of readOrdering(props).items.entries()) {
      const row = rows.filter({ hasText: html });
      const position = async () => (await rows.allTextContents()).findIndex((text) => text.includes(html));
      while ((await position()) > index) await row.locator('.lectern-order-up').click();
    }
  },
  async Numeric(question, props) {
    await question.locator('input').fill(String(readNumeric(props).correct));
  },
  async OpenResponse(question) {
    await question.locator('textarea').fill('The moon.');
  },
};

/**
 * Clicks a button, and clicks again if the click did not arrive. Playwright reports success even when the page around
 * the frame moved under the pointer, as when the lesson grows, and the event went elsewhere.
 */
async function press(page: Page | Frame, button: Locator): Promise<void> {
  await page.evaluate(`globalThis.clicks ??= (addEventListener('click', () => { clicks += 1; }, true), 0)`);
  const clicks = () => page.evaluate<number>('clicks');
  const before = await clicks();
  for (let tries = 0; tries < 5; tries += 1) {
    await button.click();
    if ((await clicks()) > before) return;
  }
  throw new Error('No click has reached the page');
}

/** Returns the blocks of these types in a step, nested ones included, in reading order. */
function blocksOf({ content }: Step, ...types: string[]): Block[] {
  return [...stepBlocks(content)].map(({ block }) => block).filter(({ type }) => types.includes(type ?? ''));
}
