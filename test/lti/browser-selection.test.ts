import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { publishLesson } from '../player/player-lessons.ts';
import { faultsIn } from '../support/axe.ts';
import { useBrowser } from '../support/use.ts';
import { beginSelection } from './support/selection.ts';
import type { SelectionSettings } from './support/selection.ts';
import { useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();
const browser = useBrowser();
beforeAll(async () => {
  const { harness, organization } = lab;
  for (let number = 1; number <= 12; number += 1) {
    const { lessonId } = await publishLesson(harness, organization, {
      lesson: { title: number === 3 ? 'Unverkürzbarkeitsgrundsatzerläuterung'.repeat(4) : `Tides ${number}` },
    });
    if (number === 12)
      await publishLesson(harness, organization, { lessonId, lesson: { title: 'Tides 12' } });
  }
});

/** Runs in the page: returns the element that covers the middle of the focused element, if any. */
const elementOverFocus = `(() => {
  const focused = document.activeElement;
  const { left, top, width, height } = focused.getBoundingClientRect();
  const seen = document.elementFromPoint(left + width / 2, top + height / 2);
  return focused.contains(seen) || seen.contains(focused) && !seen.matches('html, body') ? '' : focused.outerHTML + ' under ' + seen?.outerHTML;
})()`;

async function open(options: BrowserContextOptions = {}, selection?: SelectionSettings): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(await beginSelection(lab, selection));
  return page;
}

/** Checks the HTML of a page in another one: axe cannot run in a page without scripts. */
async function faultsInCopy(page: Page): Promise<string[]> {
  const copy = await (await browser.newContext()).newPage();
  await copy.setContent((await page.content()).replace(/<script.*?<\/script>/gs, ''));
  const faults = await faultsIn(copy);
  await copy.context().close();
  return faults;
}

const links = () => lab.simulator.linksOf(lab.simulator.sample.course);

describe.each([true, false])('a teacher whose browser runs scripts: %s', (javaScriptEnabled) => {
  test('searches, turns pages and selects lessons, and all of them arrive in the course', async () => {
    const page = await open({ javaScriptEnabled, locale: 'en' });
    const before = links().length;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await page.getByRole('checkbox', { name: /^Tides 12 / }).check();
    await page.getByRole('group', { name: 'Tides 12' }).getByRole('combobox').selectOption({ index: 2 });
    await button('More lessons').click();
    await page.getByRole('checkbox', { name: /^Tides 1 / }).check();
    await page.getByRole('group', { name: 'Tides 1', exact: true }).getByRole('checkbox').uncheck();
    await page.getByRole('searchbox').fill('tides 5');
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('checkbox', { name: /^Tides 5 / }).check();
    expect(
      await page
        .getByRole('group', { name: 'Your selection' })
        .getByRole('checkbox', { checked: true })
        .count(),
    ).toBe(3);
    await button('Add to the course').click();
    if (!javaScriptEnabled) {
      await button('Continue').waitFor();
      expect(await faultsInCopy(page)).toEqual([]);
      await button('Continue').click();
    }
    await page.waitForURL(lab.simulator.urls.deepLinkingReturn);
    const made = links().slice(before);
    expect(
      made.map((link) => [link.title, 'version_id' in link.custom, lab.simulator.lineItemsOf(link).length]),
    ).toEqual(
      expect.arrayContaining([
        ['Tides 12', true, 1],
        ['Tides 1', false, 0],
        ['Tides 5', false, 1],
      ]),
    );
    await page.context().close();
  });
});

describe('axe-core finds no violation in the page, and it fits', () => {
  async function check(page: Page, width: number): Promise<void> {
    expect(await faultsIn(page)).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  }

  test('with some lessons, with many, and with none', async () => {
    const page = await open({ colorScheme: 'light', viewport: { width: 320, height: 700 } });
    await check(page, 320);
    await page.getByRole('checkbox').first().check();
    await page.locator('[name=cursor]').click();
    await check(page, 320);
    await page.locator('[type=search]').fill('nothing has this in its title');
    await page.locator('[type=search]').press('Enter');
    await page.locator('.none').waitFor();
    await check(page, 320);
    await page.context().close();
  });

  test('with a selection and an alert, in Arabic in a dark window', async () => {
    const dark = { colorScheme: 'dark', viewport: { width: 768, height: 700 } } as const;
    const page = await open(dark, { locale: 'ar' });
    await page.getByRole('checkbox').first().check();
    await check(page, 768);
    await page.getByRole('checkbox').first().uncheck();
    await page.locator('[value=choose]').click();
    await page.getByRole('alert').waitFor();
    await check(page, 768);
    await page.context().close();
  });
});

test('the focused element is never covered, in a small window', async () => {
  const page = await open({ viewport: { width: 400, height: 500 } });
  const { length } = await page.locator('main :is(input, button, select):visible').all();
  expect(length).toBeGreaterThan(12);
  for (let step = 0; step < length; step += 1) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate<string>(elementOverFocus)).toBe('');
  }
  await page.context().close();
});
