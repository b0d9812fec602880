import type { Browser } from 'playwright-core';

const deadline = 60_000;

/** The name of the function that pages call; its argument is a time in milliseconds since 1970. */
const binding = 'benchFirstStepShown';

/**
 * Runs in every document of a page, those in frames included: asks at each frame of the screen whether the heading
 * and a whole picture are there. The picture is decoded then; the second frame after that is when both were painted.
 */
const watch = (title: string) => `(() => {
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const frame = () => new Promise(requestAnimationFrame);
  (async () => {
    for (;;) {
      await frame();
      const heading = [...document.querySelectorAll('h1, h2')].find(
        (element) => element.textContent.trim() === ${JSON.stringify(title)} && isShown(element),
      );
      const picture = [...document.images].find(isShown);
      if (heading === undefined || !picture?.complete || picture.naturalWidth === 0) continue;
      await picture.decode();
      await frame();
      await frame();
      ${binding}(performance.timeOrigin + performance.now());
      return;
    }
  })();
})()`;

/**
 * Opens a page in a browser context of its own, so that nothing is cached.
 *
 * @param title of the step that is to be seen
 * @returns milliseconds from the beginning of the navigation to heading and picture on the screen
 */
export async function timeToFirstStep(browser: Browser, url: string, title: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const shown = new Promise<number>((resolve, reject) => {
      const late = () => reject(new Error(`${url} shows no step after ${deadline / 1000} seconds`));
      AbortSignal.timeout(deadline).addEventListener('abort', late);
      void context.exposeBinding(binding, (_, at: number) => resolve(at));
    });
    await context.addInitScript(watch(title));
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'commit' });
    const at = await shown;
    return at - (await page.evaluate<number>('performance.timeOrigin'));
  } finally {
    await context.close();
  }
}
