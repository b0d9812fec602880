import { describe, expect, it } from 'vitest';
import { openQuestion, question, several } from './samples.ts';
import { useWidgetLab } from './use-widget-lab.ts';

const file = useWidgetLab();

describe('MultipleChoice', () => {
  it('selecting an answer and pressing the button reports the choice ids, score and maxScore', async () => {
    const { page } = file.shared;
    await file.shared.show([question]);
    await page.getByText('Mars', { exact: true }).click();
    await page.getByRole('button', { name: 'Check answer' }).click();
    expect(await file.shared.reports()).toEqual([
      { id: 'q1', value: ['mars'], result: { score: 3, maxScore: 3 } },
    ]);
    expect(await page.getByRole('status').textContent()).toBe('Correct. Score: 3 of 3');
    expect(await page.getByText('Mars goes round the Sun.').isVisible()).toBe(true);
  });

  it('a wrong answer reports no points, and another attempt reports the new score', async () => {
    const { page } = file.shared;
    await file.shared.show([question]);
    await page.getByRole('radio', { name: 'The Sun' }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    expect(await page.getByRole('status').textContent()).toBe('Not quite. Score: 0 of 3');
    expect(await page.getByRole('radio', { name: 'The Moon' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('radio', { name: 'Mars' }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    expect((await file.shared.reports()).map(({ result }) => result?.score)).toEqual([0, 3]);
  });

  it('several right choices make checkboxes, and the learner sees partial credit', async () => {
    const { page } = file.shared;
    await file.shared.show([several]);
    await page.getByRole('checkbox', { name: 'Mars' }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    expect(await file.shared.reports()).toEqual([
      { id: 'q2', value: ['mars'], result: { score: 1, maxScore: 2 } },
    ]);
    expect(await page.getByRole('status').textContent()).toBe('Partly correct. Score: 1 of 2');
  });

  it('checking without an answer reports nothing and shows what is missing', async () => {
    await file.shared.show([question]);
    await file.shared.page.getByRole('button', { name: 'Check answer' }).click();
    expect(await file.shared.reports()).toEqual([]);
    expect(await file.shared.page.getByRole('status').textContent()).toBe('Choose an answer first.');
  });

  it('a question without a right choice reports the answer without a score', async () => {
    await file.shared.show([{ type: 'MultipleChoice', props: { ...question.props, correct: [] } }]);
    await file.shared.page.getByRole('radio', { name: 'Mars' }).check();
    await file.shared.page.getByRole('button', { name: 'Check answer' }).click();
    expect(await file.shared.reports()).toEqual([{ id: 'q1', value: ['mars'] }]);
  });

  it('the question can be answered by keyboard alone, without losing the focus', async () => {
    const { page } = file.shared;
    await file.shared.show([question]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await file.shared.reports()).toEqual([
      { id: 'q1', value: ['mars'], result: { score: 3, maxScore: 3 } },
    ]);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Try again');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.value')).toBe('moon');
  });

  it('the choices are a named group', async () => {
    await file.shared.show([question]);
    const group = file.shared.page.getByRole('radiogroup', { name: 'Which is a planet?' });
    expect(await group.getByRole('radio').count()).toBe(3);
  });

  it('a saved answer is restored with its feedback and is not reported again', async () => {
    const { page } = file.shared;
    await file.shared.show([question], { states: { q1: ['mars'] } });
    expect(await page.getByRole('radio', { name: 'Mars' }).isChecked()).toBe(true);
    expect(await page.getByRole('status').textContent()).toBe('Correct. Score: 3 of 3');
    expect(await page.getByText('Mars goes round the Sun.').isVisible()).toBe(true);
    expect(await file.shared.reports()).toEqual([]);
  });

  it.each([['text'], [{ mars: true }], [['gone']], [[null]], [7]])(
    'starts over from an invalid state of %j',
    async (state) => {
      await file.shared.show([question], { states: { q1: state } });
      expect(await file.shared.page.getByRole('button').textContent()).toBe('Check answer');
    },
  );
});

describe('OpenResponse', () => {
  it('submitting reports the text and shows the sample answer for comparison', async () => {
    const { page } = file.shared;
    await file.shared.show([openQuestion]);
    expect(await page.getByText('Because it turns.').isVisible()).toBe(false);
    await page.getByRole('textbox', { name: 'Why? Your answer' }).fill('  It spins. ');
    await page.getByRole('button', { name: 'Submit' }).click();
    expect(await file.shared.reports()).toEqual([{ id: 'o1', value: 'It spins.' }]);
    expect(await page.getByText('Because it turns.').isVisible()).toBe(true);
    expect(await page.getByRole('status').textContent()).toContain('Compare it');
  });

  it('an empty answer is not reported', async () => {
    await file.shared.show([openQuestion]);
    await file.shared.page.getByRole('button', { name: 'Submit' }).click();
    expect(await file.shared.reports()).toEqual([]);
    expect(await file.shared.page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
  });

  it('a saved answer is restored with the sample answer', async () => {
    await file.shared.show([openQuestion], { states: { o1: 'Saved' } });
    expect(await file.shared.page.getByRole('textbox').inputValue()).toBe('Saved');
    expect(await file.shared.page.getByText('Because it turns.').isVisible()).toBe(true);
  });
});
