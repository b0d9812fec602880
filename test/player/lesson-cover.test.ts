import { describe, expect, it } from 'vitest';
import { minutesOf } from '../../shared/lessons/cover.ts';
import { checkLessonJson } from '../../shared/packages/lesson-json.ts';
import { FaultList } from '../../shared/packages/package-error.ts';
import { faultsIn } from '../support/axe.ts';
import { longestBlock, maxBlockMs } from '../support/longest-block.ts';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, text, threeSteps } from './samples.ts';

const { view, page, button, heading } = useLessonPage({ viewport: { width: 360, height: 640 } });

const cover = {
  image: './media/none.png',
  text: 'All planets.\nFrom the Sun outward.',
  objectives: ['Name the planets'],
};
const covered = () => {
  const lesson = threeSteps();
  return { ...lesson, lesson: { ...lesson.lesson, estimatedDuration: 12, cover } };
};

describe('a lesson with a cover', () => {
  it('begins with it, and Start leads to the first step without an event', async () => {
    await view.start({ lesson: covered() }, { callbacks: ['onHeading'] });
    expect(await heading()).toBe('Planets');
    expect(await page.getByText('From the Sun outward.').isVisible()).toBe(true);
    expect(await page.getByText('About 12 minutes · 3 steps').isVisible()).toBe(true);
    expect(await page.getByText('Name the planets').isVisible()).toBe(true);
    expect(await button('Back').isVisible()).toBe(false);
    expect(await faultsIn(page)).toEqual([]);
    // On a phone, too, the button is in view.
    expect((await button('Start').boundingBox())?.y).toBeLessThan(640);
    await button('Start').click();
    expect(await heading()).toBe('Mercury');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Mercury');
    expect(await view.calls('onStepChange')).toEqual([]);
    await button('Next').click();
    expect(await heading()).toBe('Venus');
    // For the title of the page.
    expect(await view.calls('onHeading')).toEqual(['Planets', 'Mercury', 'Venus']);
  });

  it('says Continue to learners who have begun, and leads to their step', async () => {
    const state = { stepId: 'venus', progressData: { visited: ['mercury', 'venus'] } };
    await view.start({ lesson: covered(), state });
    await button('Continue').click();
    expect(await heading()).toBe('Venus');
  });

  it('leads to the step that learners choose in the outline, even the first', async () => {
    await view.start({ lesson: covered() });
    await button('Contents').click();
    await page.getByRole('button', { name: /^Mercury/ }).click();
    expect(await heading()).toBe('Mercury');
  });

  it.each([
    ['a link to a step', { startAt: 'venus' }, 'Venus'],
    ['cover: false', { cover: false }, 'Mercury'],
    [
      'a state at the end',
      { state: { stepId: 'neptune', progressData: { atEnd: true } } },
      'Lesson complete',
    ],
  ])('does not show it for %s', async (_name, options, title) => {
    await view.start({ lesson: covered(), ...options });
    expect(await heading()).toBe(title);
  });

  it.each([
    [{ objectives: Array(21).fill('Learn') }, 'objectives'],
    [{ text: 'x'.repeat(2001) }, 'text'],
    ['text', 'cover'],
  ])('cannot be imported with %j', (given, field) => {
    const lesson = threeSteps();
    const faults = new FaultList();
    checkLessonJson({ ...lesson, lesson: { ...lesson.lesson, cover: given } }, faults);
    expect(() => faults.throwIfAny()).toThrow(field);
  });
});

it('minutes count words, scripts without spaces, recordings and questions, unless the author gives them', () => {
  const minutes = (blocks: Parameters<typeof text>[1][], meta = {}) =>
    minutesOf(
      lessonOf(
        { A: { B: blocks.map((html, index) => text(`t${index}`, html)) } },
        { estimatedDuration: null, ...meta },
      ),
    );
  expect(minutes([])).toBe(1);
  expect(minutes([`<p class="not a word">${'word '.repeat(1800)}</p>`])).toBe(10);
  expect(minutes(['字'.repeat(3600)])).toBe(10);
  expect(minutes([], { estimatedDuration: 7.5 })).toBe(8);
  const video = { type: 'Video', props: { id: 'v', src: 'media:x' } };
  const question = { type: 'TrueFalse', props: { id: 'q', prompt: 'Is it?' } };
  expect(
    minutesOf(
      lessonOf(
        { A: { B: [video, video, ...Array<typeof question>(4).fill(question)] } },
        { estimatedDuration: null },
      ),
    ),
  ).toBe(9);
});

it('the time to count minutes does not grow with the square of a text', async () => {
  const content = lessonOf({ A: { B: [text('t', '<'.repeat(200_000))] } }, { estimatedDuration: null });
  let counted = 0;
  const block = await longestBlock(() => Promise.resolve((counted = minutesOf(content))));
  expect(counted).toBe(1);
  expect(block).toBeLessThan(maxBlockMs);
});
