import { describe, expect, it } from 'vitest';
import { question, several } from './samples.ts';
import { useWidgetLab } from './use-widget-lab.ts';

const file = useWidgetLab();

const choices = [
  { id: 'moon', html: 'The Moon', feedback: '<p>The Moon goes round a <b>planet</b>.</p>' },
  { id: 'mars', html: 'Mars', feedback: 'The fourth one.' },
  { id: 'sun', html: 'The Sun' },
];
const told = {
  type: 'MultipleChoice',
  props: { ...question.props, choices, feedback: { right: 'Well seen.', wrong: 'Think of orbits.' } },
};
const limited = { type: 'MultipleChoice', props: { ...told.props, attempts: 2 } };
const survey = { type: 'MultipleChoice', props: { ...told.props, correct: [] } };

async function answer(name: string): Promise<void> {
  await file.shared.page.getByRole('radio', { name }).check();
  await file.shared.page.getByRole('button', { name: 'Check answer' }).click();
}

const statusText = () => file.shared.page.getByRole('status').textContent();
const explained = () => file.shared.page.getByText('Mars goes round the Sun.').isVisible();

describe("the author's feedback on an answer", () => {
  it('appears for the selected choices and for the answer as a whole', async () => {
    const { page } = file.shared;
    await file.shared.show([told]);
    await answer('The Moon');
    expect(await page.getByText('The Moon goes round a planet.').isVisible()).toBe(true);
    expect(await page.getByText('The fourth one.').count()).toBe(0);
    expect(await statusText()).toBe('Not quite. Score: 0 of 3Think of orbits.');
    await page.getByRole('button', { name: 'Try again' }).click();
    expect(await page.getByText('The Moon goes round a planet.').count()).toBe(0);
    expect(await statusText()).toBe('');
    await answer('Mars');
    expect(await page.getByText('The fourth one.').isVisible()).toBe(true);
    expect(await statusText()).toContain('Well seen.');
  });

  it('describes the choice to screen readers', async () => {
    const { page } = file.shared;
    await file.shared.show([told]);
    await answer('Mars');
    const described = await page.evaluate<string>(
      `document.getElementById(document.querySelector('input:checked').getAttribute('aria-describedby')).textContent`,
    );
    expect(described).toBe('The fourth one.');
  });

  it('right and wrong are shown by texts and signs, not by color alone', async () => {
    const { page } = file.shared;
    await file.shared.show([several]);
    for (const name of ['Mars', 'The Sun']) await page.getByRole('checkbox', { name }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    const [moon, mars, sun] = await page.locator('.lectern-choice-verdict').all();
    expect([await moon?.textContent(), await mars?.textContent(), await sun?.textContent()]).toEqual([
      '',
      'Correct',
      'Not quite',
    ]);
    const signs = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.lectern-choice-verdict path')].map((path) => path.getAttribute('d'))`,
    );
    expect(new Set(signs).size).toBe(2);
  });

  it('appears where no answer is right or wrong, and the learner can change the answer', async () => {
    const { page } = file.shared;
    await file.shared.show([survey]);
    await answer('The Moon');
    expect(await statusText()).toBe('Your answer is saved.');
    expect(await page.getByText('The Moon goes round a planet.').isVisible()).toBe(true);
    expect(await page.locator('.lectern-choice-verdict').allTextContents()).toEqual(['', '', '']);
    await page.getByRole('button', { name: 'Change answer' }).click();
    expect(await page.getByRole('radio', { name: 'The Moon' }).isChecked()).toBe(true);
  });
});

describe('a limit of attempts', () => {
  it('is shown, and the explanation and the right choice appear after the last attempt', async () => {
    const { page } = file.shared;
    await file.shared.show([limited]);
    expect(await page.getByText('Choose one answer. 2 tries left').isVisible()).toBe(true);
    await answer('The Moon');
    expect(await statusText()).toContain('Not quite. Score: 0 of 3. 1 try left');
    expect(await explained()).toBe(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await answer('The Sun');
    expect(await statusText()).toContain('Not quite. Score: 0 of 3');
    expect(await explained()).toBe(true);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByText('Correct answer').isVisible()).toBe(true);
    expect((await file.shared.reports()).length).toBe(2);
  });

  it('a right answer closes the question and shows the explanation', async () => {
    const { page } = file.shared;
    await file.shared.show([limited]);
    await answer('Mars');
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await explained()).toBe(true);
    expect(await statusText()).not.toMatch(/tr(y|ies) left/);
  });

  it('the focus stays in place when the question closes', async () => {
    const { page } = file.shared;
    await file.shared.show([limited]);
    await page.getByRole('radio', { name: 'Mars' }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.role')).toBe('status');
  });

  it.each<[string, number | undefined, string[], boolean]>([
    ['with one of two attempts used, the learner can answer again', 1, ['sun'], true],
    ['with all attempts used, it stays closed', 2, ['sun'], false],
    ['with more attempts used than now allowed, it stays closed', 5, ['sun'], false],
    ['answered right, it stays closed', 1, ['mars'], false],
    ['an answer without a count is one attempt', undefined, ['sun'], true],
  ])('a reopened question: %s', async (_case, tries, state, isOpen) => {
    const { page } = file.shared;
    await file.shared.show([limited], { states: { q1: state }, tries: tries ? { q1: tries } : {} });
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(isOpen ? 1 : 0);
    expect(await explained()).toBe(!isOpen);
    if (!isOpen) return;
    await page.getByRole('button', { name: 'Try again' }).click();
    expect(await page.getByText('1 try left').isVisible()).toBe(true);
    await answer('The Sun');
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('does not lock out learners whose saved answer is unreadable', async () => {
    await file.shared.show([limited], { states: { q1: ['gone'] }, tries: { q1: 2 } });
    expect(await file.shared.page.getByText('2 tries left').isVisible()).toBe(true);
  });

  it.each([0, -1, 1.5, '2', null, true, {}])('%j is not a limit', async (attempts) => {
    await file.shared.show([{ type: 'MultipleChoice', props: { ...told.props, attempts } }]);
    expect(await file.shared.page.getByText(/tr(y|ies) left/).count()).toBe(0);
    for (let turn = 0; turn < 3; turn += 1) {
      await answer('The Sun');
      await file.shared.page.getByRole('button', { name: 'Try again' }).click();
    }
  });

  it("attempt numbers use the language's format", async () => {
    await file.shared.show([{ ...limited, props: { ...limited.props, attempts: 3 } }], { language: 'ar-EG' });
    expect(await file.shared.page.getByText('بقيت لك ٣ محاولات').count()).toBe(1);
  });
});

it('several choices may be selected where the author allows it, however many are right', async () => {
  await file.shared.show([{ type: 'MultipleChoice', props: { ...told.props, multiple: true } }]);
  expect(await file.shared.page.getByRole('checkbox').count()).toBe(3);
});
