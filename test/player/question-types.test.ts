import { describe, expect, it } from 'vitest';
import { pressWhileComposing, useWidgetPage } from './player-lab.ts';

const { view, page } = useWidgetPage();

const check = () => page.getByRole('button', { name: 'Check answer' }).click();
const focused = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.title');
const lastReport = async () => (await view.reports()).at(-1);

const gaps = {
  type: 'FillInTheBlanks',
  props: {
    id: 'f',
    prompt: '<p>Complete it.</p>',
    text: '<p>[[a]] follows [[b]], [[unknown]] and [[a]].</p>',
    blanks: [
      { id: 'a', answers: ['Ebb'], hint: 'Three letters' },
      { id: 'b', answers: ['flow', 'flood'], feedback: { wrong: '<p>The water rises.</p>' } },
    ],
    attempts: 2,
  },
};
const pairs = {
  type: 'Matching',
  props: {
    id: 'm',
    prompt: '<p>Match.</p>',
    pairs: [
      { id: 'new', left: 'New moon', right: 'Spring tide' },
      { id: 'quarter', left: 'First quarter', right: 'Neap tide' },
      { id: 'full', left: 'Full moon', right: 'Spring tide' },
    ],
    distractors: [{ id: 'storm', html: 'Storm tide' }],
    attempts: 1,
  },
};
const order = {
  type: 'Ordering',
  props: {
    id: 'o',
    prompt: '<p>Order.</p>',
    items: ['One', 'Two', 'Three'].map((html) => ({ id: html, html })),
  },
};

describe('a text with gaps', () => {
  it('marks each gap, gives hints and feedback, and shows right words only when the question closes', async () => {
    await view.show([gaps]);
    expect(await page.locator('.lectern-blanks p').first().textContent()).toContain('[[unknown]] and [[a]].');
    await page.getByRole('button', { name: 'Hint: Gap 1 of 2' }).click();
    expect(await page.getByText('Three letters').isVisible()).toBe(true);

    await page.getByRole('textbox', { name: 'Gap 1 of 2' }).fill(' ebb ');
    await page.getByRole('textbox', { name: 'Gap 2 of 2' }).fill('tide');
    await page.keyboard.press('Enter');
    expect(await lastReport()).toEqual({
      id: 'f',
      value: { a: 'ebb', b: 'tide' },
      result: { score: 1, maxScore: 2 },
    });
    expect(await page.getByText('The water rises.').isVisible()).toBe(true);
    expect(await page.getByText('flow').count()).toBe(0);

    await page.getByRole('button', { name: 'Try again' }).click();
    expect(await focused()).toBe('Gap 2 of 2');
    await page.getByRole('textbox', { name: 'Gap 2 of 2' }).fill('moon');
    await check();
    expect(await page.locator('.lectern-blank-solution').textContent()).toContain('flow');
  });

  it('with a word bank, learners choose among all right words and the distractors', async () => {
    const props = { ...gaps.props, wordBank: true, distractors: ['wave', 'wave'] };
    await view.show([{ type: 'FillInTheBlanks', props }], { states: { f: { b: 'gone' } } });
    const first = page.getByRole('combobox', { name: 'Gap 1 of 2' });
    expect((await first.locator('option').allTextContents()).toSorted()).toEqual(['', 'Ebb', 'flow', 'wave']);
    // A word of another version stays the learner's answer.
    expect(await page.getByRole('combobox', { name: 'Gap 2 of 2' }).inputValue()).toBe('gone');
  });
});

describe('matching', () => {
  const slot = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) });
  const option = (name: string) => page.getByRole('button', { name, exact: true });

  it('works by keyboard alone, in either order, and says what happened', async () => {
    await view.show([pairs]);
    const press = async (target: ReturnType<typeof slot>) => {
      await target.focus();
      await page.keyboard.press('Enter');
    };
    await press(option('Neap tide'));
    await press(slot('First quarter'));
    expect(await page.getByRole('status').first().textContent()).toBe('First quarter: Neap tide');
    expect(await option('Neap tide').count()).toBe(0);
    await press(slot('New moon'));
    await press(option('Spring tide'));
    // It fits two pairs, so it stays available.
    await press(slot('Full moon'));
    await press(option('Spring tide'));
    await check();
    expect(await lastReport()).toMatchObject({
      value: { new: 'new', quarter: 'quarter', full: 'new' },
      result: { score: 3, maxScore: 3 },
    });
  });

  it('works by dragging, and an answer can be taken back and moved', async () => {
    await view.show([pairs]);
    await option('Storm tide').dragTo(slot('New moon'));
    expect(await slot('New moon').textContent()).toBe('Storm tide');
    await slot('New moon').dragTo(slot('Full moon'));
    expect([await slot('New moon').textContent(), await slot('Full moon').textContent()]).toEqual([
      'Empty',
      'Storm tide',
    ]);
    await slot('Full moon').click();
    expect(await slot('Full moon').textContent()).toBe('Empty');
    await slot('First quarter').click();
    await check();
    expect(await lastReport()).toMatchObject({
      value: { quarter: 'storm' },
      result: { score: 0, maxScore: 3 },
    });
    expect(await page.locator('.lectern-pair-solution').allTextContents()).toEqual([
      'Correct answer: Spring tide',
      'Correct answer: Neap tide',
      'Correct answer: Spring tide',
    ]);
  });
});

describe('ordering', () => {
  const texts = () => page.locator('.lectern-order-body').allTextContents();

  it('starts in another order, which is always the same', async () => {
    await view.show([order]);
    const start = await texts();
    expect(start).not.toEqual(['One', 'Two', 'Three']);
    await view.show([order]);
    expect(await texts()).toEqual(start);
  });

  it('the buttons at the ends are disabled, keep the focus and say each time why the item stays', async () => {
    await view.show([order]);
    const [first = ''] = await texts();
    const up = page.getByRole('button', { name: `Move up: ${first}` });
    await up.focus();
    const said = () => page.locator('.lectern-ordering-field > [role=status]').textContent();
    const announced: (string | null)[] = [];
    for (let times = 0; times < 2; times += 1) {
      await page.keyboard.press('Enter');
      announced.push(await said());
    }
    expect(announced.map((text) => text?.trim())).toEqual(Array(2).fill(`${first} is already first.`));
    // Screen readers announce only what changes.
    expect(announced[0]).not.toBe(announced[1]);
    expect([await up.getAttribute('aria-disabled'), await focused()]).toEqual(['true', `Move up: ${first}`]);
    await page.getByRole('button', { name: 'Move down' }).last().press('Enter');
    expect(await said()).toMatch(/ is already last\.$/);
  });

  it('works by keyboard: the focus stays on the button, and the new position is announced', async () => {
    await view.show([order], { states: { o: ['Three', 'Two', 'One'] }, tries: { o: 1 } });
    await page.getByRole('button', { name: 'Try again' }).click();
    const up = page.getByRole('button', { name: 'Move up: One' });
    await up.focus();
    for (let times = 0; times < 2; times += 1) await page.keyboard.press('Enter');
    expect(await focused()).toBe('Move up: One');
    expect(await page.getByText('One: position 1 of 3').count()).toBe(1);
    await page.getByRole('button', { name: 'Move down: Three' }).click();
    await check();
    expect(await lastReport()).toMatchObject({
      value: ['One', 'Two', 'Three'],
      result: { score: 1, maxScore: 1 },
    });
  });

  it('works by dragging', async () => {
    await view.show([order], { states: { o: ['Three', 'Two', 'One'] }, tries: { o: 1 } });
    await page.getByRole('button', { name: 'Try again' }).click();
    const row = (name: string) => page.locator('.lectern-order-row').filter({ hasText: name });
    const last = await row('One').boundingBox();
    await row('Three').locator('.lectern-order-grip').hover();
    await page.mouse.down();
    await page.mouse.move(last?.x ?? 0, (last?.y ?? 0) + (last?.height ?? 0), { steps: 5 });
    await page.mouse.up();
    expect(await texts()).toEqual(['Two', 'One', 'Three']);
  });
});

describe('checking uses no try', () => {
  const note = () => page.locator('.lectern-feedback').textContent();
  const choice = { prompt: '<p>Which?</p>', choices: ['a', 'b', 'c'].map((id) => ({ id, html: id })) };

  it.each<[string, object, string]>([
    ['Ordering', order.props, 'This order isn’t right yet. Move at least one item.'],
    ['Matching', pairs.props, 'Place at least one answer first.'],
    ['FillInTheBlanks', gaps.props, 'Fill in at least one gap first.'],
    ['Numeric', { id: 'n', correct: 0 }, 'Enter a number, such as 12.5.'],
    ['TrueFalse', { id: 't', correct: false }, 'Choose an answer first.'],
    ['MultipleChoice', { ...choice, id: 'c', correct: ['a'] }, 'Choose an answer first.'],
    ['MultipleChoice', { ...choice, id: 'c', correct: ['a', 'b'] }, 'Choose an answer first.'],
  ])('before the learner has answered: %s', async (type, props, text) => {
    await view.show([{ type, props: { ...props, attempts: 1 } }]);
    await check();
    expect([await note(), await view.reports()]).toEqual([text, []]);
    expect(await page.getByText('1 try left').isVisible()).toBe(true);
  });

  it.each<[string, object, unknown]>([
    ['Ordering', order.props, ['Three', 'Two', 'One']],
    ['Matching', pairs.props, { new: 'new', quarter: 'storm' }],
    ['FillInTheBlanks', gaps.props, { a: 'ebb', b: 'tide' }],
    ['Numeric', { id: 'n', correct: 0 }, 7],
  ])('after a mistake, before the learner has changed it: %s', async (type, props, state) => {
    const { id } = props as { id: string };
    await view.show([{ type, props: { ...props, attempts: 2 } }], {
      states: { [id]: state },
      tries: { [id]: 1 },
    });
    await page.getByRole('button', { name: 'Try again' }).click();
    await check();
    expect([await note(), await view.reports()]).toEqual(['Change your answer first.', []]);
    expect(await page.getByText('1 try left').isVisible()).toBe(true);
  });

  it.each(['FillInTheBlanks', 'Numeric'])('while an input method composes a character: %s', async (type) => {
    const { props } = type === 'Numeric' ? { props: { id: 'n', correct: 7 } } : gaps;
    await view.show([{ type, props: { ...props, attempts: 1 } }]);
    const field = page.getByRole('textbox').first();
    await field.fill('7');
    await pressWhileComposing(field, 'Enter');
    expect(await view.reports()).toEqual([]);
    await field.press('Enter');
    expect(await view.reports()).toHaveLength(1);
  });
});

it('true and false are answers, and resume as such', async () => {
  const block = {
    type: 'TrueFalse',
    props: { id: 't', prompt: '<p>Water is wet.</p>', correct: false, attempts: 1 },
  };
  await view.show([block]);
  await page.getByRole('radio', { name: 'False' }).check();
  await page.keyboard.press('Enter');
  expect(await lastReport()).toEqual({ id: 't', value: false, result: { score: 1, maxScore: 1 } });
  await view.show([block], { states: { t: true }, tries: { t: 1 } });
  expect(await page.getByRole('radio', { name: 'True' }).isChecked()).toBe(true);
  expect(await page.getByText('Correct answer').count()).toBe(1);
});

it('tabs move by arrow keys, in the direction of the language', async () => {
  const tabs = ['One', 'Two', 'Three'].map((title) => ({
    title,
    body: [{ type: 'Text', props: { html: title } }],
  }));
  const shown = () => page.locator('[role=tabpanel]:visible').textContent();
  await view.show([{ type: 'Tabs', props: { tabs } }]);
  await page.getByRole('tab', { name: 'One' }).focus();
  await page.keyboard.press('ArrowLeft');
  expect(await shown()).toBe('Three');
  await page.keyboard.press('Home');
  expect(await shown()).toBe('One');
  await view.show([{ type: 'Tabs', props: { tabs } }], { language: 'ar' });
  await page.getByRole('tab', { name: 'One' }).focus();
  await page.keyboard.press('ArrowLeft');
  expect(await shown()).toBe('Two');
});

it('flashcards that a learner does not know come again, until all are known', async () => {
  const cards = [
    { front: 'Ebb', back: 'The water falls', hint: 'Not flow' },
    { front: 'Flow', back: 'It rises' },
  ];
  await view.show([{ type: 'Flashcards', props: { id: 'c', cards } }]);
  const click = (name: string) => page.getByRole('button', { name }).click();
  await click('Hint');
  expect(await page.getByText('Not flow').isVisible()).toBe(true);
  await click('Turn over');
  expect(await page.locator('.lectern-card-face').textContent()).toBe('The water falls');
  await click('Not yet');
  await click('Turn over');
  await click('I know it');
  expect(await page.locator('.lectern-card-face').textContent()).toBe('Ebb');
  expect(await page.getByText('1 card left').count()).toBe(1);
  await click('Turn over');
  await click('I know it');
  expect(await page.getByText('You know all the cards.').isVisible()).toBe(true);
  await click('Start again');
  expect(await page.locator('.lectern-card-face').textContent()).toBe('Ebb');
  expect(await view.reports()).toEqual([]);
});

it('a callout says its kind to screen readers, with and without a title', async () => {
  const kinds = ['tip', 'warning', 'note', 'example'];
  const props = kinds.flatMap((kind) => [{ kind, title: 'Read this' }, { kind }]);
  await view.show(props.map((each) => ({ type: 'Callout', props: each })));
  for (const kind of kinds) {
    expect(await page.getByRole('note', { name: new RegExp(`^${kind}`, 'i') }).count(), kind).toBe(2);
    expect(await page.getByRole('note', { name: new RegExp(`^${kind}.*Read this$`, 'i') }).count()).toBe(1);
  }
});
