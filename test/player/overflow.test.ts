import { expect, it } from 'vitest';
import { message, supportedLanguages } from '../../shared/i18n/message.ts';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, text } from './samples.ts';

const { view, page, click } = useLessonPage();

/** A word that is wider than a phone. */
const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
const pairs = [
  { id: 'a', left: long, right: long },
  { id: 'b', left: 'Two', right: `${long}s` },
];
const matching = { type: 'Matching', props: { id: 'm', prompt: `<p>${long}</p>`, pairs, attempts: 1 } };
const phrases = ['because the Moon pulls on the near side more than on the far side', 'for another reason'];
const bank = {
  type: 'FillInTheBlanks',
  props: {
    id: 'f',
    text: '<p>It rises [[why]].</p>',
    blanks: [{ id: 'why', answers: phrases }],
    distractors: phrases,
    wordBank: true,
  },
};
const sound = {
  type: 'Audio',
  props: {
    id: 'sound',
    src: '/48ed9460-9e64-4df8-854a-71329ce41c4e.mp3',
    captions: [{ src: 'data:text/vtt,WEBVTT', language: 'en', label: `${phrases[0]} (${long})` }],
  },
};
const lesson = lessonOf({
  [long]: {
    [long]: [matching, bank, sound],
    ...Object.fromEntries(['B', 'C'].map((title) => [title, [text(title, 'x')]])),
  },
});

/** Returns the elements that are cut by the page, by their container, or by the bar. */
const cutOff = `(() => {
  const width = document.documentElement.clientWidth;
  const shown = [...document.querySelectorAll('.lectern-lesson *')].filter((part) => part.checkVisibility());
  const isHidden = (part) => part.closest('.lectern-hidden-text, .lectern-skip:not(:focus), .lectern-icon') !== null ||
    getComputedStyle(part).clipPath !== 'none' || getComputedStyle(part.parentElement).clipPath !== 'none';
  const isCut = (part) => {
    const { left, right } = part.getBoundingClientRect();
    const isScroller = getComputedStyle(part).overflowX !== 'visible';
    // The title above the lesson ends with an ellipsis.
    if (part.matches('.lectern-lesson-title, .lectern-lesson-title *')) return false;
    return left < -1 || right > width + 1 || ((isScroller || part.matches('button')) && part.scrollWidth > part.clientWidth + 1);
  };
  const place = document.querySelector('.lectern-tools > .lectern-place');
  const bar = document.querySelector('.lectern-tools');
  const isOut = place !== null && getComputedStyle(place).clipPath === 'none' &&
    (place.offsetHeight > bar.clientHeight || place.scrollWidth > place.clientWidth + 1);
  return [...shown.filter((part) => !isHidden(part) && isCut(part)), ...(isOut ? [place] : [])]
    .map((part) => part.className || part.tagName);
})()`;

/** Other languages than the one with the longest words differ where there is least space. */
async function cutAt(pageName: string, language: string): Promise<string[]> {
  const found: string[] = [];
  for (const width of language === 'de' ? [320, 360, 390, 768, 1280] : [320]) {
    await page.setViewportSize({ width, height: 800 });
    // The layout follows the width in a later frame.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const parts = await page.evaluate<string[]>(cutOff);
    found.push(...parts.map((part) => `${pageName} at ${width}: ${part}`));
  }
  return found;
}

it.each(supportedLanguages())('in %s, nothing is cut off between 320 and 1,280 pixels', async (language) => {
  const said = (key: Parameters<typeof message>[1]) => message(language, key as 'lesson.next');
  await view.start({ lesson, language });
  const found = await cutAt('question', language);
  await page.locator('.lectern-option').last().click();
  await page.locator('.lectern-pair-slot').first().click();
  await page.locator('.lectern-matching-field ~ .lectern-actions .lectern-button').click();
  await page.locator('.lectern-blank select').selectOption(phrases[0] ?? '');
  // Browsers cut the text of a select without overflow.
  const chosen = page.locator('.lectern-select-chosen');
  expect(await chosen.allTextContents()).toEqual([phrases[0], sound.props.captions[0]?.label]);
  for (const width of [320, 360]) {
    await page.setViewportSize({ width, height: 800 });
    const cut = await page.evaluate<number[]>(`[...document.querySelectorAll('select')].map((select) => {
      const text = select.nextElementSibling;
      return Math.max(text.offsetHeight - select.offsetHeight, text.offsetWidth - select.offsetWidth, text.scrollWidth - text.clientWidth);
    })`);
    // Rounded, twice.
    expect(cut.map((pixels) => Math.max(pixels, 2))).toEqual([2, 2]);
  }
  found.push(...(await cutAt('solution', language)));
  await click(said('lesson.next'));
  found.push(...(await cutAt('bar', language)));
  await page.addStyleTag({
    content:
      '* { letter-spacing: 0.12em !important; word-spacing: 0.16em !important; line-height: 1.5 !important }',
  });
  found.push(...(await cutAt('spaced bar', language)));
  await page.evaluate(`document.querySelector('style:last-of-type').remove()`);
  await click(said('lesson.next'));
  await click(said('lesson.finish'));
  found.push(...(await cutAt('dialog', language)));
  await page
    .getByRole('dialog')
    .getByRole('button', { name: said('lesson.finish') })
    .click();
  found.push(...(await cutAt('end', language)));
  expect(found).toEqual([]);
});

it('the skip link is in front of the header', async () => {
  await page.setViewportSize({ width: 320, height: 800 });
  await view.start({ lesson });
  await page.locator('.lectern-skip').focus();
  const front = `(() => {
    const { x, y, width, height } = document.querySelector('.lectern-skip').getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2).className;
  })()`;
  expect(await page.evaluate(front)).toBe('lectern-skip');
});
