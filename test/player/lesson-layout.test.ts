import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { useLessonLab } from './lesson-page.ts';
import type { LessonPage } from './lesson-page.ts';
import { demoLesson, lessonOf, text, threeSteps } from './lesson-samples.ts';

const lab = useLessonLab();
const languages = ['en', 'es', 'fr', 'de', 'pt', 'ar', 'zh'];

let view: LessonPage | undefined;
afterEach(() => view?.page.context().close());

describe('the layout of a lesson', () => {
  it.each([320, 768, 1280])('at %i pixels no step is wider than the page', async (width) => {
    view = await lab.open({ viewport: { width, height: 800 } });
    await view.start({ lesson: await demoLesson() });
    const wide = await view.page.evaluate<string[]>(`(() => {
      const wide = [];
      do {
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth > clientWidth) wide.push(document.querySelector('h1').textContent);
      } while (handle.next());
      return wide;
    })()`);
    expect(wide).toEqual([]);
  });

  it.each([
    [390, 'en'],
    [1280, 'en'],
    [1280, 'ar'],
  ])('at %i pixels, in %s, a widget without a stylesheet is in the text column', async (width, language) => {
    view = await lab.open({ viewport: { width, height: 800 } });
    const Plain = `export default { type: 'Plain', mount(element) {
      element.append(Object.assign(document.createElement('div'), { textContent: 'Plain', style: 'background: #ccc' }));
      return { destroy() {} };
    } };`;
    const blocks = [text('t1', 'Text'), { type: 'Plain', props: { id: 'p1' } }];
    await view.start({ lesson: lessonOf({ One: { First: blocks } }), language }, { widgets: { Plain } });
    const plain = await view.page.getByText('Plain').boundingBox();
    const textColumn = await view.page.locator('.lectern-text').boundingBox();
    expect([plain?.x, plain?.width]).toEqual([textColumn?.x, textColumn?.width]);
  });

  it('the width of the player decides, not that of the page', async () => {
    const lesson = await demoLesson();
    const pages: Page[] = [];
    onTestFinished(() => Promise.all(pages.map((page) => page.context().close())).then(() => undefined));
    for (const width of [320, 1280]) {
      const opened = await lab.open({ viewport: { width, height: 800 } });
      const { page } = opened;
      pages.push(page);
      await page.evaluate('document.getElementById("lesson").style.width = "320px"');
      await opened.start({ lesson });
      await page.locator('input').first().check();
      await page.getByRole('button', { name: 'Check answer' }).first().click();
    }
    const inBoth = <T>(script: string) => Promise.all(pages.map((page) => page.evaluate<T>(script)));
    do {
      await inBoth('for (const image of document.images) image.loading = "eager"');
      // Pictures, sounds and videos change the layout when they load, at a different time on each
      // page.
      await expect
        .poll(async () => {
          const [one, other] = await inBoth<number>(
            'document.querySelector(".lectern-lesson").getBoundingClientRect().height',
          );
          return (one ?? 0) - (other ?? 0);
        })
        .toBe(0);
    } while ((await inBoth<boolean>('handle.next()'))[0]);
  });

  it('long words, titles and many steps fit into 320 pixels', async () => {
    view = await lab.open({ viewport: { width: 320, height: 600 } });
    const long = 'Donaudampfschifffahrtsgesellschaftskapitänsmütze';
    const steps = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`${long} ${index}`, [text('t1', long)]]),
    );
    await view.start({ lesson: lessonOf({ [long]: steps }, { title: `${long} ${long}` }) });
    await view.page.getByRole('button', { name: 'Contents' }).click();
    expect(await view.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    const drawer = 'document.querySelector("dialog")';
    expect(await view.page.evaluate(`${drawer}.scrollWidth - ${drawer}.clientWidth`)).toBe(0);
  });

  it.each(languages)('in %s, no button is cut off at 320 pixels', async (language) => {
    view = await lab.open({ viewport: { width: 320, height: 600 } });
    await view.start({ lesson: threeSteps(), language });
    const fits = `[...document.querySelectorAll('button')].every(
      (button) => button.scrollWidth <= button.clientWidth || button.matches('.lectern-skip'))`;
    do {
      expect(await view.page.evaluate(fits)).toBe(true);
      expect(await view.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    } while (await view.page.evaluate('handle.next()'));
  });

  it('a right-to-left language mirrors the layout', async () => {
    view = await lab.open({ viewport: { width: 1200, height: 800 } });
    await view.start({ lesson: threeSteps(), language: 'ar', startAt: 'venus' });
    const boxes = await view.page.evaluate<Record<string, number>>(`Object.fromEntries(
      ['.lectern-side', 'h1', '.lectern-steps > :first-child', '.lectern-steps > :last-child'].map(
        (selector) => [selector, document.querySelector(selector).getBoundingClientRect().left]))`);
    expect(boxes['.lectern-side']).toBeGreaterThan(boxes.h1 ?? 0);
    expect(boxes['.lectern-steps > :first-child']).toBeGreaterThan(
      boxes['.lectern-steps > :last-child'] ?? 0,
    );
    expect(await view.page.locator('.lectern-lesson').getAttribute('dir')).toBe('rtl');
  });

  it('connected scripts get no letter spacing', async () => {
    const heading = { type: 'Heading', props: { id: 'h1', text: 'المد' } };
    const question = { type: 'OpenResponse', props: { id: 'o1' } };
    const texts = '[".lectern-step-title", ".lectern-heading-text", ".lectern-label"]';
    const spacing = `${texts}.map((text) => getComputedStyle(document.querySelector(text)).letterSpacing)`;
    view = await lab.open();
    await view.start({ lesson: lessonOf({ قريب: { القمر: [heading, question] } }), language: 'ar' });
    expect(await view.page.evaluate(spacing)).toEqual(['normal', 'normal', 'normal']);
    await view.page.context().close();
  });

  it("brings a background of its own, light or dark by the reader's preference", async () => {
    const colors = ['light', 'dark'] as const;
    const backgrounds = [];
    for (const colorScheme of colors) {
      view = await lab.open({ colorScheme });
      await view.start({ lesson: threeSteps() });
      const style = 'getComputedStyle(document.querySelector(".lectern-lesson"))';
      backgrounds.push(await view.page.evaluate(`${style}.backgroundColor`));
      expect(await view.page.evaluate(`${style}.colorScheme`)).toBe('light dark');
      await view.page.context().close();
    }
    expect(backgrounds).toEqual(['rgb(255, 255, 255)', 'rgb(18, 23, 29)']);
  });

  it('nothing moves with prefers-reduced-motion', async () => {
    view = await lab.open({ reducedMotion: 'reduce', viewport: { width: 400, height: 600 } });
    await view.start({ lesson: threeSteps() });
    await view.page.getByRole('button', { name: 'Contents' }).click();
    expect(await view.page.evaluate('document.getAnimations().length')).toBe(0);
  });
});
