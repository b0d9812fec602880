import { describe, expect, it } from 'vitest';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, question, text, threeSteps } from './samples.ts';

const { lab, view, page, click, heading } = useLessonPage();

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

it('a double click counts as one: it skips no step, and does not clear the answer that it checks', async () => {
  await view.start({ lesson: threeSteps() });
  await page.getByRole('button', { name: 'Next' }).dblclick();
  expect(await heading()).toBe('Venus');
  await page.getByText('46 °C', { exact: true }).click();
  await page.getByRole('button', { name: 'Check answer' }).dblclick();
  expect(await page.locator('.lectern-verdict').textContent()).toBe('Not quite');
  expect(await page.getByRole('radio', { name: /^46 °C/, checked: true }).count()).toBe(1);
  await click('Try again');
  expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
});

it('a double tap counts as one, even in browsers that do not count taps', async () => {
  const phone = await lab.openLesson({ hasTouch: true, viewport: { width: 360, height: 740 } });
  const title = () => phone.page.getByRole('heading', { level: 1 }).textContent();
  const tapTwice = (name: string) =>
    phone.page.evaluate(`
      const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === '${name}');
      // Both before the first is handled, which may take longer than the time between two taps.
      const taps = [1, 2].map(() => new PointerEvent('click', { pointerType: 'touch', detail: 1 }));
      for (const tap of taps) button.dispatchEvent(tap);
    `);
  await phone.start({ lesson: threeSteps() });
  await tapTwice('Next');
  expect(await title()).toBe('Venus');
  await phone.start({ lesson: threeSteps(), startAt: 'neptune' });
  await tapTwice('Back');
  expect(await title()).toBe('Venus');
});

it('each press of a key counts, however fast', async () => {
  await view.start({ lesson: threeSteps() });
  for (const title of ['Venus', 'Neptune']) {
    await page.getByRole('button', { name: 'Next' }).press('Enter');
    expect(await heading()).toBe(title);
  }
});
