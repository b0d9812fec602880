import type { FrameLocator, Page } from 'playwright-core';

/* What a learner does in a package's page, and sees there. */

export type Place = Page | FrameLocator;

export const heading = (place: Place) => place.getByRole('heading', { level: 1 });

/** Answers every question of the current step that is open: the first choices, and a text. */
export async function answerStep(
  place: Place,
  answer = 'A learner’s own words, {lang=xx} [,] "quoted"',
): Promise<void> {
  const questions = place.locator('.lectern-question');
  for (let index = 0; index < (await questions.count()); index += 1) {
    const question = questions.nth(index);
    const box = question.getByRole('textbox');
    const choices = question.locator('input');
    if ((await box.count()) > 0) {
      await box.fill(answer);
      await question.getByRole('button', { name: 'Submit' }).click();
    } else if ((await choices.count()) > 0 && (await choices.first().isEnabled())) {
      await choices.first().check();
      await question.getByRole('button', { name: 'Check' }).click();
    }
  }
}

/** Goes to the next step, and at the last one to the end. */
export async function goOn(place: Place): Promise<void> {
  const before = (await heading(place).textContent()) ?? '';
  await place.getByRole('button', { name: /^(Next|Finish)$/ }).click();
  const whole = new RegExp(`^${before.replaceAll(/[^\p{L}\p{N} ]/gu, '.')}$`, 'u');
  await heading(place).filter({ hasNotText: whole }).waitFor();
}

/** Answers and finishes everything from the current step on. */
export async function playToEnd(place: Place): Promise<void> {
  await heading(place).waitFor();
  while ((await place.getByRole('button', { name: /^(Next|Finish)$/ }).count()) > 0) {
    await answerStep(place);
    const isLast = (await place.getByRole('button', { name: 'Finish' }).count()) > 0;
    await goOn(place);
    if (isLast) return;
  }
}

/** Returns what the learner sees of the state: the step, and the answers on it. */
export async function stateOn(place: Place): Promise<{ step: string | null; answers: (string | boolean)[] }> {
  await heading(place).waitFor();
  const fields = await place.locator('.lectern-question :is(input, textarea)').all();
  const answers = await Promise.all(
    fields.map(async (field) => {
      const isText = (await field.getAttribute('type')) === null;
      return isText ? field.inputValue() : field.isChecked();
    }),
  );
  return { step: await heading(place).textContent(), answers };
}
