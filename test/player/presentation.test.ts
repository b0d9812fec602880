import { describe, expect, it } from 'vitest';
import { message } from '../../shared/i18n/message.ts';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, question, text } from './samples.ts';

const { view, page, button, click, heading } = useLessonPage({ viewport: { width: 1920, height: 1080 } });

const field = { type: 'Numeric', props: { id: 'n', prompt: 'How many?', correct: 8 } };
const lesson = lessonOf({
  Near: {
    Mercury: [text('t1', '<p>Closest to the Sun.</p>')],
    Venus: [question, text('t2', '<p>A long way.</p>'.repeat(60))],
    Mars: [field],
  },
});
const isFull = () =>
  page.evaluate<boolean>(`document.querySelector('.lectern-lesson').matches(':fullscreen')`);
const fontSize = (selector: string) =>
  page.evaluate<number>(`parseFloat(getComputedStyle(document.querySelector('${selector}')).fontSize)`);

async function present(language = 'en'): Promise<void> {
  await view.start({ lesson, language, canPresent: true });
  await click(message(language, 'lesson.present'));
  await expect.poll(isFull).toBe(true);
}

describe('a presentation', () => {
  it('fills the screen with type for the last row, and without the outline', async () => {
    await present();
    // A 27th of the screen's height.
    await expect.poll(() => fontSize('.lectern-block p')).toBeGreaterThanOrEqual(1080 / 27);
    await page.keyboard.press('ArrowRight');
    expect(await fontSize('.lectern-choice')).toBeGreaterThanOrEqual(1080 / 27);
    expect(await page.locator('.lectern-outline').isVisible()).toBe(false);
    expect(await button('Contents').isVisible()).toBe(false);
    const box = await page.locator('.lectern-step-body').boundingBox();
    expect(box?.width).toBeGreaterThan(1500);
    expect(await page.evaluate('document.querySelector(".lectern-lesson").scrollWidth')).toBe(1920);
  });

  it('goes through the steps by the keys of keyboards and remote controls', async () => {
    await present();
    const press = async (key: string) => {
      await page.keyboard.press(key);
      return heading();
    };
    expect(await press('ArrowRight')).toBe('Venus');
    expect(await press('ArrowLeft')).toBe('Mercury');
    expect(await press('PageDown')).toBe('Venus');
    // A long step scrolls first.
    const scrolled = `document.querySelector('.lectern-lesson').scrollTop`;
    expect(await press('PageDown')).toBe('Venus');
    await expect.poll(() => page.evaluate<number>(scrolled)).toBeGreaterThan(100);
    await page.evaluate(
      `document.querySelector('.lectern-lesson').scrollTo({ top: 1e6, behavior: 'instant' })`,
    );
    expect(await press('PageDown')).toBe('Mars');
    // The end needs the button, because it asks first.
    expect(await press('ArrowRight')).toBe('Mars');
    await page.getByRole('textbox').fill('12');
    expect(await press('ArrowLeft')).toBe('Mars');
    await page.getByRole('heading', { level: 1 }).focus();
    expect(await press('PageUp')).toBe('Venus');
  });

  it('follows the direction of the language', async () => {
    await present('ar');
    await page.keyboard.press('ArrowLeft');
    expect(await heading()).toBe('Venus');
    await page.keyboard.press('ArrowRight');
    expect(await heading()).toBe('Mercury');
  });

  it.each<[end: string, act: () => Promise<unknown>]>([
    ['its button', () => click('End presentation')],
    ['the browser', () => page.evaluate('document.exitFullscreen()')],
    ['the removal of the player', () => page.evaluate('handle.destroy()')],
  ])('leaves the page as it was, ended by %s', async (end, act) => {
    await view.start({ lesson, canPresent: true });
    // The player has measured its width.
    await page.locator('.lectern-progress-section').waitFor();
    const before = await page.evaluate('document.documentElement.outerHTML');
    const size = await fontSize('.lectern-block p');
    await click('Present');
    await expect.poll(isFull).toBe(true);
    await act();
    await expect.poll(() => page.evaluate('document.fullscreenElement')).toBeNull();
    await expect.poll(() => page.evaluate('document.documentElement.style.fontSize')).toBe('');
    if (end === 'the removal of the player') return;
    await expect.poll(() => fontSize('.lectern-block p')).toBe(size);
    expect(await button('Contents').isVisible()).toBe(true);
    expect(await page.evaluate('document.documentElement.outerHTML')).toBe(before);
    await page.keyboard.press('ArrowRight');
    expect(await heading()).toBe('Mercury');
  });
});

it('learners do not get the button', async () => {
  await view.start({ lesson });
  expect(await button('Present').count()).toBe(0);
});
