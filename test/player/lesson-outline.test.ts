import { describe, expect, it } from 'vitest';
import { pressWhileComposing, useLessonPage } from './player-lab.ts';
import { lessonOf, text, threeSteps } from './samples.ts';

const { view, page, focused } = useLessonPage();

const narrow = { width: 400, height: 700 };
const wide = { width: 1200, height: 700 };
const contents = () => page.getByRole('button', { name: 'Contents' });
const outline = () => page.getByRole('navigation', { name: 'Contents' });
const entry = (name: string | RegExp) => outline().getByRole('button', { name });

describe('the outline', () => {
  it('lists sections and steps, and marks the current step and the seen ones', async () => {
    await page.setViewportSize(wide);
    await view.start({ lesson: threeSteps() });
    await page.getByRole('button', { name: 'Next' }).click();
    expect(await outline().getByRole('button').allTextContents()).toEqual([
      'Mercury, seen',
      'Venus',
      'Neptune',
    ]);
    expect(await outline().locator('summary').allTextContents()).toEqual(['Near2/2', 'Far0/1']);
    expect(await outline().locator('[aria-current=step]').textContent()).toBe('Venus');
  });

  it('is beside the step where there is space, and can be collapsed', async () => {
    await page.setViewportSize(wide);
    await view.start({ lesson: threeSteps() });
    expect(await outline().isVisible()).toBe(true);
    expect(await contents().getAttribute('aria-expanded')).toBe('true');
    await contents().click();
    expect(await outline().isVisible()).toBe(false);
    expect(await contents().getAttribute('aria-expanded')).toBe('false');
    await contents().click();
    await entry('Neptune').click();
    expect(await focused()).toBe('Neptune');
    expect(await outline().isVisible()).toBe(true);
  });

  it('is a drawer on a narrow page, which takes the focus, returns it, and closes by Escape, a choice and a click outside', async () => {
    await page.setViewportSize(narrow);
    await view.start({ lesson: threeSteps() });
    expect(await outline().isVisible()).toBe(false);
    await contents().focus();
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog', { name: 'Contents' }).isVisible()).toBe(true);
    expect(await focused()).toBe('Mercury');
    await page.keyboard.press('Escape');
    expect(await outline().isVisible()).toBe(false);
    expect(await focused()).toBe('Contents');
    // A dialog fires its close event in a separate task.
    await expect.poll(() => contents().getAttribute('aria-expanded')).toBe('false');
    await contents().click();
    await entry('Neptune').click();
    expect(await outline().isVisible()).toBe(false);
    expect(await focused()).toBe('Neptune');
    await contents().click();
    await page.mouse.click(395, 300);
    expect(await outline().isVisible()).toBe(false);
    // With more space it becomes a sidebar.
    await contents().click();
    await page.setViewportSize(wide);
    // The drawer shows it as well until the page gets the resize event.
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await outline().isVisible()).toBe(true);
  });

  it("a long lesson shows the steps of the learner's current section", async () => {
    await page.setViewportSize(wide);
    const steps = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${prefix}${index}`, [text('t', 'x')]]));
    await view.start({ lesson: lessonOf({ First: steps('a'), Second: steps('b') }) });
    expect(await entry('a3').isVisible()).toBe(true);
    expect(await entry('b3').isVisible()).toBe(false);
    await page.evaluate('handle.goTo("b3")');
    expect(await entry('b3').isVisible()).toBe(true);
  });

  it('folds a section once its steps are seen and the learner leaves it', async () => {
    await page.setViewportSize(wide);
    await view.start({ lesson: threeSteps() });
    await page.evaluate('handle.next()');
    expect(await entry('Mercury').isVisible()).toBe(true);
    await page.evaluate('handle.next()');
    expect(await entry('Mercury').isVisible()).toBe(false);
  });
});

describe('the outline of a lesson with 1,000 steps', () => {
  const titles = Array.from({ length: 1000 }, (_, index) => `Step no. ${index}`);
  const sections = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [
      `Chapitre ${index}: Été`,
      Object.fromEntries(titles.slice(20 * index, 20 * index + 20).map((title) => [title, [text('t', 'x')]])),
    ]),
  );
  const field = () => outline().getByRole('searchbox', { name: 'Search the steps' });
  const openBook = async () => {
    await page.setViewportSize(wide);
    await view.start({ lesson: lessonOf(sections) });
  };

  it('has nodes for the current section only, wherever the learner goes', async () => {
    await openBook();
    for (const step of [0, 500, 999]) {
      await page.evaluate(`handle.goTo("step no. ${step}")`);
      await expect.poll(() => outline().locator('.lectern-outline-step').count()).toBe(20);
      expect(await outline().locator('[aria-current=step]').textContent()).toBe(`Step no. ${step}`);
    }
  });

  it('scrolls by itself and keeps the current entry in view; bar and header stay while the page scrolls', async () => {
    await page.setViewportSize(wide);
    const lines = text('t', '<p>Line</p>'.repeat(100));
    const steps = Object.fromEntries(titles.slice(0, 100).map((title) => [title, [lines]]));
    await view.start({ lesson: lessonOf({ One: steps }) });
    await page.evaluate('handle.goTo("step no. 80"); scrollTo(0, 1500)');
    const inView = `[...document.querySelectorAll('[aria-current], .lectern-header, .lectern-bar')].every((part) => {
      const { top, bottom } = part.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    })`;
    await page.waitForFunction(inView);
    expect(await page.evaluate('scrollY')).toBe(1500);
  });

  it('finds steps by words of their titles and sections, without case and accents', async () => {
    await openBook();
    await field().fill('CHAPITRE 38 ete 77');
    await outline().getByText('10 steps found').waitFor();
    await outline().getByRole('button', { name: 'Step no. 770' }).click();
    expect(await focused()).toBe('Step no. 770');
    await field().fill('nowhere');
    await outline().getByText('0 steps found').waitFor();
    for (const key of ['Escape', 'ArrowDown']) await pressWhileComposing(field(), key);
    expect([await field().inputValue(), await field().evaluate('document.activeElement.type')]).toEqual([
      'nowhere',
      'search',
    ]);
    await field().press('Escape');
    expect(await field().inputValue()).toBe('');
    expect(await entry('Step no. 770').isVisible()).toBe(true);
  });

  it('is usable by keyboard: the arrows, Home and End move through entries, Enter selects', async () => {
    await openBook();
    await field().focus();
    // As fast as a learner who knows the way: the page gets the keys while it still unfolds the section.
    const keys = 'ArrowDown ArrowDown ArrowDown ArrowUp End Enter ArrowDown Enter'.split(' ');
    await Promise.all(keys.map((key) => page.keyboard.press(key)));
    expect(await focused()).toBe('Step no. 980');
  });
});
