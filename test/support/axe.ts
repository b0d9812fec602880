import axe, { type AxeResults } from 'axe-core';
import type { Frame, Page } from 'playwright-core';

/**
 * Returns axe's violations in a document, without the frames inside it, as `<rule>: <element>`, and names that screen
 * readers would read twice. It waits for animations, because text that fades in has too little contrast, and for two
 * frames, because the player learns of sizes after the browser has painted.
 *
 * @param rules the only rules to check, such as color-contrast in a second color scheme; all by default
 */
export async function faultsIn(document: Page | Frame, rules?: string[]): Promise<string[]> {
  await document.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
    .map(({ finished }) => finished))`);
  await document.evaluate(
    `new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(painted))))`,
  );
  if (!(await document.evaluate<boolean>(`'axe' in window`))) await document.evaluate(axe.source);
  const { violations } = await document.evaluate<AxeResults>(
    `axe.run(document, ${JSON.stringify({ iframes: false, resultTypes: ['violations'], ...(rules && { runOnly: rules }) })})`,
  );
  // Screen readers would read the title again, as a description after the name.
  const readTwice = await document.evaluate<string[]>(`[...document.querySelectorAll('[aria-label][title]')]
    .filter(({ ariaLabel, title }) => ariaLabel === title).map(({ outerHTML }) => 'name-read-twice: ' + outerHTML)`);
  return [...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)), ...readTwice];
}
