import type { Frame, Page } from 'playwright-core';
import { stepBlocks } from '../../shared/lessons/blocks.ts';
import type { Block, LessonContent, Step } from '../../shared/lessons/lesson-content.ts';
import { readQuestion } from '../../shared/lessons/scoring.ts';
import { orderedSections } from '../../shared/lessons/totals.ts';

/** The steps of a lesson in playing order. */
export function stepsOf(lesson: LessonContent): Step[] {
  return orderedSections(lesson).flatMap(({ steps }) =>
    steps.toSorted((one, other) => one.order_index - other.order_index),
  );
}

/** The blocks of these types in a step, nested ones too, in reading order. */
export function blocksOf({ content }: Step, ...types: string[]): Block[] {
  return [...stepBlocks(content)].map(({ block }) => block).filter(({ type }) => types.includes(type ?? ''));
}

/** What was seen on one step. */
export interface SeenStep {
  title: string;
  pictures: number;
  /** Videos and audios. */
  recordings: number;
  /** The addresses of those that did not load. */
  broken: string[];
}

/** Runs in the page. */
const look = `(async () => {
  const pictures = [...document.querySelectorAll('.lectern-step img')];
  const recordings = [...document.querySelectorAll('.lectern-step :is(video, audio)')];
  const broken = [];
  for (const picture of pictures) {
    // One below the fold would wait for somebody to scroll there.
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
  return { title, pictures: pictures.length, recordings: recordings.length, broken };
})()`;

/** A page of many steps and pictures costs what it shows: this is a telephone's. */
export const smallScreen = { width: 390, height: 664 };

/** Plays from the step that is shown to the end: looks at every picture, and gives the right answer to all. */
export async function playThrough(page: Page | Frame, lesson: LessonContent): Promise<SeenStep[]> {
  const seen: SeenStep[] = [];
  for (const step of stepsOf(lesson)) {
    seen.push(await lookAtStep(page));
    await answerStep(page, step);
    await page.locator('.lectern-steps button').last().click();
  }
  await page.locator('.lectern-end').waitFor();
  return seen;
}

/** Waits until everything on the step that is shown is loaded, or known not to be. */
export function lookAtStep(page: Page | Frame): Promise<SeenStep> {
  return page.evaluate<SeenStep>(look);
}

/** Answers every question of the step that is shown. */
export async function answerStep(page: Page | Frame, step: Step): Promise<void> {
  const questions = page.locator('.lectern-step .lectern-multiple-choice');
  for (const [index, { props }] of blocksOf(step, 'MultipleChoice').entries()) {
    const question = questions.nth(index);
    for (const id of readQuestion(props).correct) await question.locator(`input[value="${id}"]`).check();
    await question.locator('.lectern-actions button').click();
  }
  const open = page.locator('.lectern-step .lectern-open-response');
  for (const index of blocksOf(step, 'OpenResponse').keys()) {
    await open.nth(index).locator('textarea').fill('The moon.');
    await open.nth(index).locator('button').click();
  }
}
