import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useLessonLab } from './lesson-page.ts';
import type { LessonPage } from './lesson-page.ts';
import { lessonOf, text, threeSteps } from './lesson-samples.ts';

const lab = useLessonLab();
let view: LessonPage;
let page: Page;

beforeAll(async () => {
  view = await lab.open();
  ({ page } = view);
});
beforeEach(({ onTestFinished }) => {
  onTestFinished(() => expect(view.errors.splice(0)).toEqual([]));
});

const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
const heading = () => page.locator('h1').textContent();
const end = () => page.locator('.lectern-end');

async function answerAndFinish(): Promise<void> {
  await view.start({ lesson: threeSteps(), startAt: 'venus' });
  await page.getByText('460').click();
  await click('Check answer');
  await click('Next');
  await click('Finish');
}

describe('the end of a lesson', () => {
  it('shows the score and the unanswered questions, with links back', async () => {
    await answerAndFinish();
    expect(await end().innerText()).toContain('Score: 1 of 1');
    expect(await end().innerText()).toContain('You’ve answered 1 of 2 questions.');
    expect(await end().getByRole('listitem').allTextContents()).toEqual(['Neptune']);
    await end().getByRole('button', { name: 'Neptune' }).click();
    expect(await heading()).toBe('Neptune');
  });

  it('of a lesson without questions shows only that it is complete', async () => {
    await view.start({ lesson: lessonOf({ Near: { Mercury: [text('t1', 'x')] } }) });
    await click('Finish');
    expect(await page.locator('.lectern-result, .lectern-end ul').count()).toBe(0);
    expect(await heading()).toBe('Lesson complete');
  });

  it('is where a finished lesson opens again', async () => {
    await answerAndFinish();
    const state = await page.evaluate('handle.state()');
    await view.start({ lesson: threeSteps(), state });
    expect(await heading()).toBe('Lesson complete');
    await click('Back to the lesson');
    expect(await heading()).toBe('Neptune');
  });
});

describe('starting again', () => {
  it('needs confirmation, and keeps everything without it', async () => {
    await answerAndFinish();
    const state = await page.evaluate('handle.state()');
    await end().getByRole('button', { name: 'Start again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Start again?' });
    expect(await dialog.textContent()).toContain('This clears your answers in this lesson.');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await dialog.isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Start again');
    expect(await page.evaluate('handle.state()')).toEqual(state);
  });

  it('clears answers, seen steps and variables, and begins at the first step', async () => {
    await answerAndFinish();
    await end().getByRole('button', { name: 'Start again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start again' }).click();
    expect(await heading()).toBe('Mercury');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Mercury');
    const fresh = {
      stepId: 'mercury',
      items: [],
      score: null,
      progressData: { visited: ['mercury'], completed: false, atEnd: false, tries: [] },
    };
    expect((await view.calls()).slice(-2)).toMatchObject([
      ['onRestart', fresh],
      ['onStepChange', fresh],
    ]);
    await page.evaluate('handle.goTo("venus")');
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    await page.evaluate('handle.next()');
    await page.evaluate('handle.next()');
    expect(await view.calls('onComplete')).toHaveLength(2);
  });
});
