import type { FrameLocator, Page } from 'playwright-core';

/* What a learner does in a package's page, and sees there. */

export type Place = Page | FrameLocator;

export const heading = (place: Place) => place.getByRole('heading', { level: 1 });

/** Answers every question of the current step that is not answered yet: the first choices, and a text. */
export async function answerStep(
  place: Place,
  answer = 'A learner’s own words, {lang=xx} [,] "quoted"',
): Promise<void> {
  const questions = place.locator('.lectern-question');
  for (let index = 0; index < (await questions.count()); index += 1) {
    const question = questions.nth(index);
    const button = question.getByRole('button', { name: /^(Submit|Check answer)$/ });
    if (!(await button.isVisible())) continue;
    const boxes = await question.getByRole('textbox').all();
    const choices = question.locator('input[type=radio], input[type=checkbox]');
    for (const box of boxes) await box.fill(answer);
    if (boxes.length === 0) {
      if ((await choices.count()) === 0) continue;
      await choices.first().check();
    }
    await button.click();
  }
}

/** Goes to the next step, and at the last one to the end, where the player may ask first. */
export async function goOn(place: Place): Promise<void> {
  const position = place.locator('.lectern-place');
  const [before, stepBefore] = [await heading(place).textContent(), await position.textContent()];
  await place.getByRole('button', { name: /^(Next|Finish)$/ }).click();
  // Steps may have the same title.
  const next = heading(place)
    .filter({ hasNotText: whole(before) })
    .or(position.filter({ hasNotText: whole(stepBefore) }))
    // The end has no position.
    .filter({ visible: true })
    .first();
  const confirmed = place.getByRole('dialog').getByRole('button', { name: 'Finish' });
  await next.or(confirmed).first().waitFor();
  if (await confirmed.isVisible()) await confirmed.click();
  await next.waitFor();
}

/** Returns a pattern for exactly this text. */
function whole(text: string | null): RegExp {
  return new RegExp(`^${(text ?? '').replaceAll(/[^\p{L}\p{N} ]/gu, '.')}$`, 'u');
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

/** An input, a textarea or a select. */
interface Field {
  type: string;
  checked: boolean;
  value: string;
}

/** Returns what the learner sees of the state: the step, and the answers on it. */
export async function stateOn(place: Place): Promise<{ step: string | null; answers: (string | boolean)[] }> {
  await heading(place).waitFor();
  const answers = await place
    .locator('.lectern-question :is(input, textarea, select)')
    .evaluateAll((fields) =>
      (fields as unknown as Field[]).map(({ type, checked, value }) =>
        type === 'radio' || type === 'checkbox' ? checked : value,
      ),
    );
  return { step: await heading(place).textContent(), answers };
}

/** Returns which URLs, relative to the page, a script of the page can fetch. */
export async function reachableFrom(page: Page, urls: readonly string[]): Promise<string[]> {
  const reached = (url: string) =>
    page.evaluate(`fetch(${JSON.stringify(url)}).then(() => true, () => false)`);
  const results = await Promise.all(urls.map(reached));
  return urls.filter((_, index) => results[index]);
}
