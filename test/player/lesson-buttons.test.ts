import { describe, expect, it } from 'vitest';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, question, text } from './samples.ts';

const { view, page } = useLessonPage();

const click = (name: string) => page.getByRole('button', { name, exact: true }).click();

describe('one button stands out', () => {
  const isLoud = async (name: string) => {
    const classes = await page.getByRole('button', { name, exact: true }).getAttribute('class');
    return !(classes ?? '').includes('lectern-is-quiet');
  };
  const answer = async (name: string) => {
    await page.getByRole('radio', { name }).check();
    await click('Check answer');
  };
  const quiz = (attempts?: number) =>
    lessonOf({
      Near: {
        Mercury: [{ type: 'MultipleChoice', props: { ...question.props, ...(attempts && { attempts }) } }],
        Venus: [text('t1', 'x')],
      },
    });

  it('Try again after a mistake, also when the learner comes back; Next after a right answer', async () => {
    await view.start({ lesson: quiz() });
    expect([await isLoud('Check answer'), await isLoud('Next')]).toEqual([true, false]);
    await answer('The Sun');
    expect([await isLoud('Try again'), await isLoud('Next')]).toEqual([true, false]);
    await view.start({ lesson: quiz(), state: await page.evaluate('handle.state()') });
    expect([await isLoud('Try again'), await isLoud('Next')]).toEqual([true, false]);
    await click('Try again');
    await answer('Mars');
    expect([await isLoud('Try again'), await isLoud('Next')]).toEqual([false, true]);
  });

  it('Next after the last try', async () => {
    await view.start({ lesson: quiz(2) });
    await answer('The Sun');
    expect([await isLoud('Try again'), await isLoud('Next')]).toEqual([true, false]);
    await click('Try again');
    await answer('The Moon');
    expect(await isLoud('Next')).toBe(true);
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });
});
