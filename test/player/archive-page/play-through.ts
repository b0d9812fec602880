import type { Frame, Locator, Page } from 'playwright-core';
import { stepBlocks } from '../../../shared/lessons/blocks.ts';
import type { Block, LessonContent, Step } from '../../../shared/lessons/lesson-content.ts';
import { readQuestion } from '../../../shared/lessons/multiple-choice.ts';
import { orderedSections } from '../../../shared/lessons/totals.ts';

/** The steps of a lesson in playing order. */
export function stepsOf(lesson: LessonContent): Step[] {
  return orderedSections(lesson).flatMap(({ steps }) =>
    steps.toSorted((one, other) => one.order_index - other.order_index),
  );
}

/** Returns the blocks of these types in a step, nested ones included, in reading order. */
export function blocksOf({ content }: Step, ...types: string[]): Block[] {
  return [...stepBlocks(content)].map(({ block }) => block).filter(({ type }) => types.includes(type ?? ''));
}

/** What the test saw on one step. */
export interface SeenStep {
  title: string;
  pictures: number;
  /** Videos and audios. */
  recordings: number;
  /** URLs of those that did not load. */
  broken: string[];
}

/** Runs in the page. */
const look = `(async () => {
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
  return { title, pictures: pictures.length, recordings: recordings.length, broken };
})()`;

/**
 * Uses a phone's viewport, because rendering a page with many steps and pictures costs as much as
 * it shows.
 */
export const smallScreen = { width: 390, height: 664 };

/**
 * Plays from the current step to the end: checks every picture and answers every question
 * correctly.
 */
export async function playThrough(page: Page | Frame, lesson: LessonContent): Promise<SeenStep[]> {
  const seen: SeenStep[] = [];
  const steps = stepsOf(lesson);
  const traffic = recordTraffic('page' in page ? page.page() : page);
  try {
    for (const [index, step] of steps.entries()) {
      await seePlace(page, index, steps.length);
      seen.push(await lookAtStep(page));
      await answerStep(page, step);
      await press(page, page.locator('.lectern-steps button').last());
    }
    await page.locator('.lectern-end').waitFor();
  } catch (error) {
    const at = `step ${seen.length} of ${steps.length}, "${steps[seen.length - 1]?.title}"`;
    const shown = await page.evaluate<string>(describe).catch(String);
    throw new Error([`Stopped at ${at}`, shown, ...traffic].join('\n'), { cause: error });
  }
  return seen;
}

/** Runs in the page: returns details for the failure message. */
const describe = `(() => {
  const texts = (selector) => [...document.querySelectorAll(selector)].map(({ innerText }) => innerText);
  return 'The page shows ' + JSON.stringify({
    place: texts('.lectern-place'),
    title: texts('.lectern-step-title'),
    questions: texts('.lectern-question').map((text) => text.slice(0, 80)),
    notices: texts('.lectern-notice, [role=alert]'),
    isBusy: document.querySelector('[aria-busy]') !== null,
    size: [innerWidth, innerHeight, document.documentElement.scrollHeight],
  });
})()`;

/**
 * Collects the last responses to writes, failed requests and page errors as lines, in a list that
 * keeps growing.
 */
function recordTraffic(page: Page): string[] {
  const lines: string[] = [];
  const add = (line: string) => {
    lines.push(line);
    if (lines.length > 20) lines.shift();
  };
  page.on('response', (response) => {
    const isWrite = response.request().method() === 'POST';
    if (isWrite || response.status() >= 400) add(`${response.status()} ${new URL(response.url()).pathname}`);
  });
  page.on('requestfailed', (request) =>
    add(`${request.failure()?.errorText} ${request.url().split('?')[0]}`),
  );
  page.on('console', (message) => message.type() === 'error' && add(message.text()));
  page.on('pageerror', ({ message }) => add(message));
  page.on('framenavigated', (frame) => add(`navigated to ${frame.url().split('?')[0]}`));
  page.on('crash', () => add('the page crashed'));
  return lines;
}

async function seePlace(page: Page | Frame, index: number, total: number): Promise<void> {
  // Matches by id, because titles repeat and texts are the lesson's own.
  const place = page
    .locator('.lectern-place')
    .filter({ hasText: new RegExp(`\\b${index + 1}\\b.*\\b${total}\\b`) });
  await place.waitFor();
}

/**
 * Clicks a button, and clicks again if the click did not arrive. Playwright reports success even
 * when the page around the frame moved under the pointer, as when the lesson grows, and the event
 * went elsewhere.
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

/** Waits until everything on the current step has loaded or failed. */
export function lookAtStep(page: Page | Frame): Promise<SeenStep> {
  return page.evaluate<SeenStep>(look);
}

/** Answers every question of the current step. */
export async function answerStep(page: Page | Frame, step: Step): Promise<void> {
  const questions = page.locator('.lectern-step .lectern-multiple-choice');
  for (const [index, { props }] of blocksOf(step, 'MultipleChoice').entries()) {
    const question = questions.nth(index);
    for (const id of readQuestion(props).correct) await question.locator(`input[value="${id}"]`).check();
    await press(page, question.locator('.lectern-actions button'));
  }
  const open = page.locator('.lectern-step .lectern-open-response');
  for (const index of blocksOf(step, 'OpenResponse').keys()) {
    await open.nth(index).locator('textarea').fill('The moon.');
    await press(page, open.nth(index).locator('button'));
  }
}
