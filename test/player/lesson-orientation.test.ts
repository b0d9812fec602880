import { describe, expect, it } from 'vitest';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, question, text, threeSteps } from './samples.ts';

const { view, page, button } = useLessonPage({ viewport: { width: 360, height: 640 } });

/** Two sections of 20 steps. */
const manySteps = () => {
  const steps = (from: number) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`S${from + index}`, [text('t', 'Text')]]));
  return lessonOf({ One: steps(0), Two: steps(20) });
};

describe('on a phone', () => {
  it('the result of an answer scrolls into view, above the bar', async () => {
    const lines = text('t1', '<p>A line.</p>'.repeat(30));
    await view.start({ lesson: lessonOf({ Near: { Mercury: [lines, question, lines] } }) });
    await page.getByRole('radio').first().focus();
    await page.keyboard.press('Space');
    const aboveBar = (part: string) =>
      `document.querySelector('.lectern-tools').getBoundingClientRect().top - document.querySelector('${part}').getBoundingClientRect().bottom`;
    await button('Check answer').focus();
    await page.evaluate(`scrollBy(0, 4 - (${aboveBar('.lectern-question .lectern-button')}))`);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate<number>(aboveBar('.lectern-feedback'))).toBeGreaterThan(4);
  });

  it('contents come before the step in reading order, and Back and Next after it, in one bar', async () => {
    await view.start({ lesson: threeSteps(), startAt: 'venus' });
    const order = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.lectern-contents-button, .lectern-step-title, .lectern-back')].map((part) => part.className)`,
    );
    expect(order.map((name) => name.split(' ').at(-1))).toEqual([
      'lectern-contents-button',
      'lectern-step-title',
      'lectern-back',
    ]);
    const boxes = await Promise.all([
      page.locator('.lectern-tools .lectern-place').boundingBox(),
      button('Back').boundingBox(),
      button('Next').boundingBox(),
    ]);
    const [place, back, next] = boxes.map((box) => box ?? { x: 0, y: 0, width: 0, height: 0 });
    if (!place || !back || !next) throw new Error('The bar is missing');
    expect(place.x + place.width).toBeLessThanOrEqual(back.x);
    expect(Math.abs(back.y - next.y)).toBeLessThan(1);
    expect(next.y + next.height).toBeLessThanOrEqual(640);
    for (const name of ['Contents', 'Back', 'Next']) await button(name).click({ trial: true });
  });

  it('long texts of Next leave space to Contents, and stay in the bar', async () => {
    const wrong = { ...question, props: { ...question.props, id: 'q9' } };
    await view.start({
      lesson: lessonOf({ A: { First: [wrong], Last: [text('t', 'End')] } }),
      language: 'de',
    });
    await page.getByRole('radio').first().check();
    for (const name of ['Antwort prüfen', 'Weiter', 'Abschließen', 'Meine Fehler ansehen'])
      await button(name).click();
    const boxes = await page.evaluate<{ left: number; right: number; top: number; bottom: number }[]>(
      `['.lectern-contents-button', '.lectern-place', '.lectern-bar', '.lectern-steps > :last-child'].map((part) => document.querySelector(part).getBoundingClientRect().toJSON())`,
    );
    const [contents, place, bar, next] = boxes;
    if (!contents || !place || !bar || !next) throw new Error('The bar is missing');
    expect(contents.right).toBeLessThanOrEqual(bar.left);
    expect(next.right).toBeLessThanOrEqual(360);
    expect(Math.max(place.bottom, next.bottom)).toBeLessThanOrEqual(640);
    expect(next.top).toBeGreaterThanOrEqual(bar.top);
  });

  it('the progress of many steps is one bar for each section, and ticks appear when there is space', async () => {
    await view.start({ lesson: manySteps(), startAt: 's21' });
    const ticks = () => page.locator('.lectern-progress-section').first().locator('.lectern-tick').count();
    await expect.poll(ticks).toBe(2);
    expect(await page.locator('.lectern-progress-section.lectern-is-current').count()).toBe(1);
    await page.setViewportSize({ width: 1280, height: 640 });
    await expect.poll(ticks).toBe(20);
    expect(await page.getByRole('progressbar').getAttribute('aria-valuetext')).toBe('Steps seen: 1 of 40');
    await page.setViewportSize({ width: 360, height: 640 });
  });
});

describe('a result on the page at the end', () => {
  it('leads to its question, which gets the focus and is in view', async () => {
    const filler = text('filler', '<p>Text</p>'.repeat(80));
    const second = { ...question, props: { ...question.props, id: 'q2' } };
    await view.start({
      lesson: lessonOf({ A: { Step: [filler, question, second], Last: [text('t', 'End')] } }),
    });
    await button('Next').click();
    await button('Finish').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Finish' }).click();
    await page.getByRole('button', { name: 'Which is a planet? Step' }).nth(1).click();
    expect(await page.evaluate('document.activeElement.dataset.lecternBlock')).toBe('q2');
    const inView = `(() => { const { top } = document.activeElement.getBoundingClientRect(); return top >= 0 && top < innerHeight })()`;
    expect(await page.evaluate(inView)).toBe(true);
    // The next press beside a control focuses nothing.
    await page.getByRole('heading', { level: 1 }).focus();
    expect(await page.locator('.lectern-slot[tabindex]').count()).toBe(0);
  });
});

it.each([
  ['ar', '٣'],
  ['ar-MA', '3'],
  ['fa', '۳'],
  ['de', '3'],
])('numbers in %s have its digits', async (language, three) => {
  await view.start({ lesson: threeSteps(), language });
  expect(await page.locator('.lectern-place').textContent()).toContain(three);
});
