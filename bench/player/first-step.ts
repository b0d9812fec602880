import type { Browser } from 'playwright-core';

const timeoutMs = 60_000;

/** The name of the function that pages call with a time in milliseconds since 1970. */
const binding = 'benchFirstStepShown';

/** The expected step. */
interface ExpectedStep {
  title: string;
  /** Whether it has a picture, which must be visible too. */
  hasPicture: boolean;
}

/**
 * Runs in every document of a page, including frames: checks at each animation frame whether the heading and a complete
 * picture are visible. The picture is then decoded; both are painted by the second frame after that.
 */
const watch = ({ title, hasPicture }: ExpectedStep) => `(() => {
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const frame = () => new Promise(requestAnimationFrame);
  (async () => {
    for (;;) {
      await frame();
      const heading = [...document.querySelectorAll('h1, h2')].find(
        (element) => element.textContent.trim() === ${JSON.stringify(title)} && isShown(element),
      );
      if (heading === undefined) continue;
      if (${hasPicture}) {
        const picture = [...document.images].find(isShown);
        if (!picture?.complete || picture.naturalWidth === 0) continue;
        await picture.decode();
      }
      await frame();
      await frame();
      ${binding}(performance.timeOrigin + performance.now());
      return;
    }
  })();
})()`;

/**
 * Opens a page in a new browser context, so that nothing is cached.
 *
 * @returns milliseconds from the start of the navigation until the step is visible
 */
export async function timeToFirstStep(browser: Browser, url: string, step: ExpectedStep): Promise<number> {
  const context = await browser.newContext();
  try {
    const shown = new Promise<number>((resolve, reject) => {
      const late = () => reject(new Error(`${url} shows no step after ${timeoutMs / 1000} seconds`));
      AbortSignal.timeout(timeoutMs).addEventListener('abort', late);
      void context.exposeBinding(binding, (_, at: number) => resolve(at));
    });
    await context.addInitScript(watch(step));
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'commit' });
    const at = await shown;
    return at - (await page.evaluate<number>('performance.timeOrigin'));
  } finally {
    await context.close();
  }
}
