import { describe, expect, it } from 'vitest';
import { openInFrame, useWidgetPage } from './player-lab.ts';
import type { SampleBlock } from './player-lab.ts';

const { lab, view, page } = useWidgetPage();

/** 960 by 720 pixels, wider than the text column. */
const large = 'media:1619c428-4d84-4e65-8c2b-8847b8aea3b0';
const small = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"/>')}`;

const picture: SampleBlock = {
  type: 'Image',
  props: { src: large, alt: 'A boat beside a quay', caption: 'High tide' },
};

const dialog = '.lectern-zoom[open]';

const name = 'Enlarge image: A boat beside a quay';
const zoomButton = () => page.getByRole('button', { name, exact: true });

describe('a picture that is shown smaller than its size', () => {
  it('opens at full size in a named dialog with the same description', async () => {
    await view.show([picture]);
    await zoomButton().click();
    const opened = page.getByRole('dialog', { name: 'Enlarged image' });
    expect(await opened.getByRole('img', { name: 'A boat beside a quay' }).isVisible()).toBe(true);
    await page.waitForFunction(`document.querySelector('${dialog} img').complete`);
    expect(await page.evaluate(`document.querySelector('${dialog} img').clientWidth`)).toBe(960);
  });

  it.each<[string, () => Promise<void>]>([
    ['Escape', () => page.keyboard.press('Escape')],
    ['its button', () => page.getByRole('button', { name: 'Close' }).click()],
    ['Enter on its button', () => page.keyboard.press('Enter')],
    ['a click on the picture', () => page.locator(`${dialog} img`).click()],
    ['a click beside it', () => page.mouse.click(40, 360)],
  ])('closes by %s, and the focus returns', async (_how, close) => {
    await view.show([picture]);
    await zoomButton().focus();
    await page.keyboard.press('Enter');
    await page.locator(dialog).waitFor();
    expect(await page.evaluate('document.activeElement.title')).toBe('Close');
    await close();
    await page.locator(dialog).waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.title')).toBe(name);
    await page.waitForFunction('document.images.length === 1');
  });

  it('can be scrolled from edge to edge in a small window, also by keyboard', async () => {
    const narrow = await lab.openWidgets({ viewport: { width: 320, height: 480 } });
    for (const language of ['en', 'ar']) {
      await narrow.show([picture], { language });
      await narrow.page.locator('.lectern-zoom-open').click();
      const edges = await narrow.page.evaluate<number[]>(`(async () => {
        const dialog = document.querySelector('${dialog}');
        const image = dialog.querySelector('img');
        await image.decode();
        const sides = [];
        for (const [x, y] of [[-9e4, -9e4], [9e4, 9e4]]) {
          dialog.scrollTo(x, y);
          const { left, top, right, bottom } = image.getBoundingClientRect();
          sides.push(...(x < 0 ? [left, top] : [right - innerWidth, bottom - innerHeight]));
        }
        return sides.map(Math.round);
      })()`);
      // In Arabic a scroller ends on the left.
      expect(language === 'en' ? edges : [0, edges[1], 0, edges[3]], language).toEqual([0, 0, 0, 0]);
      const before = await narrow.page.evaluate<number>(`document.querySelector('${dialog}').scrollTop`);
      await narrow.page.keyboard.press('PageUp');
      await narrow.page.waitForFunction(`document.querySelector('${dialog}').scrollTop < ${before}`);
      expect(await narrow.page.locator('.lectern-zoom-close').isVisible()).toBe(true);
      expect(await narrow.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    }
    expect(await narrow.failures()).toEqual([]);
    await narrow.close();
  });

  it('moves only without prefers-reduced-motion', async () => {
    const animation = `getComputedStyle(document.querySelector('${dialog}')).animationName`;
    for (const [reducedMotion, animationName] of [
      ['reduce', 'none'],
      ['no-preference', 'lectern-zoom-in'],
    ] as const) {
      await page.emulateMedia({ reducedMotion });
      await view.show([picture]);
      await page.locator('.lectern-zoom-open').click();
      expect(await page.evaluate(animation)).toBe(animationName);
    }
  });

  it('opens in the visible part of a frame that is higher than the screen', async () => {
    const { page } = await lab.openWidgets({ viewport: { width: 900, height: 600 } });
    const frame = await openInFrame(page, 'display: block; width: 100%; height: 4000px');
    const blocks = [{ type: 'Text', props: { html: '<p>Line</p>'.repeat(40) } }, picture];
    await frame.evaluate(`show(${JSON.stringify(blocks)})`);
    await frame.locator('.lectern-figure').scrollIntoViewIfNeeded();
    await frame.locator('.lectern-zoom-open').click();
    await frame.waitForFunction(`document.querySelector('${dialog}').getBoundingClientRect().height < 700`);
    const close = await frame.locator('.lectern-zoom-close').boundingBox();
    expect(close?.y).toBeGreaterThanOrEqual(0);
    expect(close?.y).toBeLessThan(600);
    // The embed page knows more: a header of the host page covers a part of the frame.
    await page.keyboard.press('Escape');
    await frame.evaluate(`for (const [name, size] of [['top', 70], ['below', 3600]]) {
      document.documentElement.style.setProperty('--lectern-visible-' + name, size + 'px');
    }`);
    await page.evaluate('scrollTo(0, 0)');
    await frame.evaluate(`document.querySelector('.lectern-zoom-open').click()`);
    const box = `(({ top, height }) => [top, height])(document.querySelector('${dialog}').getBoundingClientRect())`;
    expect(await frame.evaluate(box)).toEqual([70, 330]);
    await page.context().close();
  });
});

describe('there is no zoom for', () => {
  it.each([
    ['a picture that is shown at its full size', { src: small, alt: 'a' }],
    ['a picture whose author disabled it', { src: large, alt: 'a', zoom: false }],
  ])('%s', async (_picture, props) => {
    await view.show([{ type: 'Image', props }]);
    await page.waitForFunction(`document.querySelector('.lectern-picture').complete`);
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('a picture that is still loading', async () => {
    await page.route('**/media/endless', () => undefined);
    await view.show([{ type: 'Image', props: { src: 'media:endless' } }]);
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('a picture that cannot be shown', async () => {
    await view.show([{ type: 'Image', props: { src: 'media:none', alt: 'A quay' } }]);
    await page.getByText('A quay').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
  });
});
