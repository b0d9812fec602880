import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { faultsIn } from '../support/axe.ts';
import { useLessonLab } from './lesson-page.ts';
import type { LessonPage } from './lesson-page.ts';
import { demoLesson, threeSteps } from './lesson-samples.ts';

const lab = useLessonLab();
let view: LessonPage;
const faults = () => faultsIn(view.page);

describe.each([
  ['light', 'en'],
  ['dark', 'en'],
  ['light', 'ar'],
] as const)('axe-core finds no violation, %s, in %s,', (colorScheme, language) => {
  beforeEach(async () => {
    view = await lab.open({ colorScheme, reducedMotion: 'reduce', viewport: { width: 1200, height: 800 } });
  });
  afterEach(() => view.page.context().close());

  it('in any step of the demo lesson, or at its end', async () => {
    await view.start({ lesson: await demoLesson(), language });
    do {
      expect(await faults()).toEqual([]);
    } while (await view.page.evaluate('handle.next()'));
  }, 120_000);

  it('in the drawer, and in the dialog before a restart', async () => {
    await view.page.setViewportSize({ width: 320, height: 700 });
    await view.start({ lesson: threeSteps(), language, startAt: 'neptune' });
    await view.page.locator('.lectern-contents-button').click();
    expect(await faults()).toEqual([]);
    await view.page.keyboard.press('Escape');
    await view.page.evaluate('handle.next()');
    await view.page.locator('.lectern-end .lectern-actions .lectern-button').nth(1).click();
    expect(await faults()).toEqual([]);
  });

  it('where a block or a whole lesson cannot be shown', async () => {
    const lesson = threeSteps();
    for (const block of lesson.sections[0]?.steps[0]?.content.content ?? []) block.type = 'Gone';
    await view.start({ lesson, language });
    await view.page.locator('.lectern-notice').waitFor();
    expect(await faults()).toEqual([]);
    await view.start({ lesson: {}, language });
    // The player does not own the heading of such a page.
    expect((await faults()).filter((fault) => !fault.startsWith('page-has-heading-one'))).toEqual([]);
    expect(await view.page.getByRole('alert').isVisible()).toBe(true);
  });
});
