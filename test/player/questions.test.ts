import { describe, expect, it } from 'vitest';
import { useWidgetPage } from './player-lab.ts';
import { openQuestion, question, several } from './samples.ts';

const { view, page } = useWidgetPage();

const choices = [
  { id: 'moon', html: 'The Moon', feedback: '<p>The Moon goes round a <b>planet</b>.</p>' },
  { id: 'mars', html: 'Mars', feedback: 'The fourth one.' },
  { id: 'sun', html: 'The Sun' },
];
const withProps = (props: object) => ({ type: 'MultipleChoice', props: { ...question.props, ...props } });
const told = withProps({ choices, feedback: { right: 'Well seen.', wrong: 'Think of orbits.' } });
const limited = { ...told, props: { ...told.props, attempts: 2 } };

const button = (name: string) => page.getByRole('button', { name });
const valuesOf = (selector: string) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('${selector}')].map(({ value }) => value)`);
const verdict = () => page.locator('.lectern-feedback').textContent();
const statusText = () => page.getByRole('status').textContent();
const explained = () => page.getByText('Mars goes round the Sun.').isVisible();

async function answer(...names: string[]): Promise<void> {
  for (const name of names) await page.getByLabel(name).check();
  await button('Check answer').click();
}

describe('MultipleChoice', () => {
  it('a wrong answer reports no points, and another attempt reports the new score', async () => {
    await view.show([question]);
    await answer('The Sun');
    expect(await statusText()).toBe('Not quite. Score: 0 of 3');
    expect(await page.getByRole('radio', { name: 'The Moon' }).isDisabled()).toBe(true);
    await button('Try again').click();
    await answer('Mars');
    expect(await view.reports()).toEqual([
      { id: 'q1', value: ['sun'], result: { score: 0, maxScore: 3 } },
      { id: 'q1', value: ['mars'], result: { score: 3, maxScore: 3 } },
    ]);
    expect(await statusText()).toBe('Correct. Score: 3 of 3');
    expect(await explained()).toBe(true);
  });

  it('several right choices make checkboxes, with partial credit; verdicts are texts and icons, not only colors', async () => {
    await view.show([several]);
    await answer('Mars');
    expect(await view.reports()).toEqual([{ id: 'q2', value: ['mars'], result: { score: 1, maxScore: 2 } }]);
    expect(await statusText()).toBe('Partly correct. Score: 1 of 2');
    await button('Try again').click();
    await answer('Mars', 'The Sun');
    const verdicts = await page.locator('.lectern-choice-verdict').allTextContents();
    expect(verdicts).toEqual(['', 'Correct', 'Not quite']);
    const icons = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.lectern-choice-verdict path')].map((path) => path.getAttribute('d'))`,
    );
    expect(new Set(icons).size).toBe(2);
  });

  it('several choices may be selected where the author allows it, however many are right', async () => {
    await view.show([withProps({ multiple: true })]);
    expect(await page.getByRole('checkbox').count()).toBe(3);
  });

  it('a question without a right choice reports no score, and the learner can change the answer', async () => {
    await view.show([{ ...told, props: { ...told.props, correct: [] } }]);
    await answer('The Moon');
    expect(await view.reports()).toEqual([{ id: 'q1', value: ['moon'] }]);
    expect(await statusText()).toBe('Your answer is saved.');
    expect(await page.getByText('The Moon goes round a planet.').isVisible()).toBe(true);
    expect(await page.locator('.lectern-choice-verdict').allTextContents()).toEqual(['', '', '']);
    await button('Change answer').click();
    expect(await page.getByRole('radio', { name: 'The Moon' }).isChecked()).toBe(true);
  });

  it('the question can be answered by keyboard alone, without losing the focus', async () => {
    await view.show([question]);
    const group = page.getByRole('radiogroup', { name: 'Which is a planet?' });
    expect(await group.getByRole('radio').count()).toBe(3);
    for (const key of ['Tab', 'Space', 'Enter']) await page.keyboard.press(key);
    expect(await view.reports()).toMatchObject([{ value: ['moon'] }]);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Try again');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.value')).toBe('moon');
    // After a right answer, the focus is on the verdict, because "Try again" would sound like a mistake.
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Correct/);
  });

  it('a saved answer is restored with its feedback and is not reported again', async () => {
    await view.show([question], { states: { q1: ['mars'] } });
    expect(await page.getByRole('radio', { name: 'Mars' }).isChecked()).toBe(true);
    expect(await statusText()).toBe('Correct. Score: 3 of 3');
    expect(await explained()).toBe(true);
    expect(await view.reports()).toEqual([]);
  });

  it('starts over from an invalid saved answer', async () => {
    const states = { a: 'text', b: { mars: true }, c: ['gone'], d: [null], e: 7 };
    const ids = Object.keys(states);
    const tries = Object.fromEntries(ids.map((id) => [id, 2]));
    await view.show(
      ids.map((id) => withProps({ id, attempts: 2 })),
      { states, tries },
    );
    expect(await page.getByRole('button').allTextContents()).toEqual(Array(5).fill('Check answer'));
    expect(await page.getByText('2 tries left').count()).toBe(5);
  });

  it('hints appear on request, each choice has feedback for learners who did not select it, and shuffled choices stay', async () => {
    const hinted = choices.map((choice) => ({
      ...choice,
      hint: `About ${choice.id}`,
      notChosenFeedback: `Not ${choice.id}`,
    }));
    const mixed = withProps({ id: 'q9', choices: hinted, hint: '<p>It is <b>red</b>.</p>', shuffle: true });
    const order = async () => {
      await view.show([mixed]);
      return valuesOf('input');
    };
    const first = await order();
    expect(first).not.toEqual(['moon', 'mars', 'sun']);
    expect(await order()).toEqual(first);
    await button('Hint').first().click();
    expect(await page.getByRole('status').first().textContent()).toBe('It is red.');
    await button('Hint: Mars').click();
    expect(await page.getByRole('radio', { name: 'Mars' }).isChecked()).toBe(false);
    expect(await page.getByText('About mars').isVisible()).toBe(true);
    await page.getByRole('radio', { name: 'Mars' }).check();
    await button('Check answer').click();
    expect(await page.getByText(/^Not \w+$/).allTextContents()).toHaveLength(2);
    await button('Try again').click();
    expect(await page.getByText(/^Not \w+$/).count()).toBe(0);
  });

  it("the author's feedback appears for the selected choices and for the answer, also to screen readers", async () => {
    await view.show([told]);
    await answer('The Moon');
    expect(await page.getByText('The Moon goes round a planet.').isVisible()).toBe(true);
    expect(await page.getByText('The fourth one.').count()).toBe(0);
    expect(await statusText()).toBe('Not quite. Score: 0 of 3Think of orbits.');
    await button('Try again').click();
    expect(await page.getByText('The Moon goes round a planet.').count()).toBe(0);
    expect(await statusText()).toBe('');
    await answer('Mars');
    expect(await statusText()).toContain('Well seen.');
    const description = await page.evaluate<string>(
      `document.getElementById(document.querySelector('input:checked').getAttribute('aria-describedby')).textContent`,
    );
    expect(description).toBe('The fourth one.');
  });
});

describe('the right answer and the explanation', () => {
  it('never appear where the author has turned them off', async () => {
    await view.show([{ ...limited, props: { ...limited.props, attempts: 1, showAnswers: false } }]);
    await answer('The Sun');
    expect([await explained(), await page.getByText('Correct answer').count()]).toEqual([false, 0]);
    expect(await page.getByRole('button').count()).toBe(0);
  });
});

const wholeOnly = 'Only a fully correct answer earns points';
it.each<[type: string, rule: string, props: object, state: unknown]>([
  ['MultipleChoice', wholeOnly, { ...several.props, partialCredit: false }, ['mars']],
  ['MultipleChoice', 'Each wrong choice cancels out a right one', several.props, ['mars', 'sun']],
  [
    'FillInTheBlanks',
    wholeOnly,
    { text: '[[a]] [[b]]', blanks: ['a', 'b'].map((id) => ({ id, answers: [id] })), partialCredit: false },
    { a: 'a', b: 'x' },
  ],
  [
    'Matching',
    wholeOnly,
    { pairs: ['a', 'b'].map((id) => ({ id, left: id, right: id })), partialCredit: false },
    { a: 'a' },
  ],
  [
    'Ordering',
    wholeOnly,
    { items: ['a', 'b', 'c'].map((id) => ({ id, html: id })), partialCredit: false },
    ['c', 'a', 'b'],
  ],
])('%s says why right parts earn nothing: %s', async (type, rule, props, state) => {
  await view.show([{ type, props: { ...props, id: 'q', points: 2 } }], { states: { q: state } });
  expect(await page.locator('.lectern-is-right').count()).toBeGreaterThan(0);
  expect(await verdict()).toBe(`Not quite. Score: 0 of 2. ${rule}`);
});

it('Try again keeps the right choices, and starts over after a right answer', async () => {
  await view.show([several]);
  const checked = () => valuesOf('input:checked');
  await answer('Mars', 'The Sun');
  await button('Try again').click();
  expect(await checked()).toEqual(['mars']);
  const right = several.props.correct;
  await view.show([several], { states: { q2: right } });
  await button('Try again').click();
  expect(await checked()).toEqual([]);
});

describe('a limit of attempts', () => {
  it('is shown, and the explanation and the right choice appear after the last attempt', async () => {
    await view.show([limited]);
    expect(await page.getByText('Choose one answer. 2 tries left').isVisible()).toBe(true);
    await answer('The Moon');
    expect(await statusText()).toContain('Not quite. Score: 0 of 3. 1 try left');
    expect(await explained()).toBe(false);
    await button('Try again').click();
    await answer('The Sun');
    expect(await statusText()).toContain('Not quite. Score: 0 of 3');
    expect(await explained()).toBe(true);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByText('Correct answer').isVisible()).toBe(true);
    expect((await view.reports()).length).toBe(2);
  });

  it('a right answer closes the question, shows the explanation, and keeps the focus in place', async () => {
    await view.show([limited]);
    await page.getByRole('radio', { name: 'Mars' }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.role')).toBe('status');
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await explained()).toBe(true);
    expect(await statusText()).not.toMatch(/tr(y|ies) left/);
  });

  it.each<[string, number | undefined, string[], boolean]>([
    ['with one of two attempts used, the learner can answer again', 1, ['sun'], true],
    ['with all attempts used, it stays closed', 2, ['sun'], false],
    ['with more attempts used than now allowed, it stays closed', 5, ['sun'], false],
    ['answered right, it stays closed', 1, ['mars'], false],
    ['an answer without a count is one attempt', undefined, ['sun'], true],
  ])('a reopened question: %s', async (_case, tries, state, isOpen) => {
    await view.show([limited], { states: { q1: state }, tries: tries ? { q1: tries } : {} });
    expect(await button('Try again').count()).toBe(isOpen ? 1 : 0);
    expect(await explained()).toBe(!isOpen);
    if (!isOpen) return;
    await button('Try again').click();
    expect(await page.getByText('1 try left').isVisible()).toBe(true);
    await answer('The Sun');
    expect(await page.getByRole('button').count()).toBe(0);
  });
});

describe('OpenResponse', () => {
  it('submitting reports the text and shows the sample answer for comparison', async () => {
    await view.show([openQuestion]);
    expect(await page.getByText('Because it turns.').isVisible()).toBe(false);
    await page.getByRole('textbox', { name: 'Why? Your answer' }).fill('  It spins. ');
    await button('Submit').click();
    expect(await view.reports()).toEqual([{ id: 'o1', value: 'It spins.' }]);
    expect(await page.getByText('Because it turns.').isVisible()).toBe(true);
    expect(await statusText()).toContain('Compare it');
  });
});
