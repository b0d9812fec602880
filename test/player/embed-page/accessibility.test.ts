import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsIn } from '../../support/axe.ts';
import { buildLearnerToken } from '../../support/factories.ts';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import { useEmbedLab } from './embed-lab.ts';

const lab = useEmbedLab();

/** Checks Lectern's page and the frame inside, and their colors also in the dark; host pages belong to their owners. */
async function faultsOf(page: Page): Promise<string[]> {
  const [, outer, inner] = page.frames();
  if (outer === undefined) throw new Error('there is no frame');
  const frames = inner === undefined ? [outer] : [outer, inner];
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
    for (const frame of frames) faults.push(...(await faultsIn(frame, rules)));
  }
  if (inner === undefined) return faults;
  // The heading and main landmark are in the inner frame.
  return faults.filter((fault) => !/^(landmark-one-main|page-has-heading-one):/.test(fault));
}

describe('the page of a hosted lesson, light and dark,', () => {
  const language = 'ar';
  const look = { locale: language, viewport: { width: 320, height: 700 } };
  const publish = () =>
    publishLesson(lab.api, lab.api.organization, {
      lesson: { language },
      sections: [section('one', step('s1', question('q1')), step('s2', heading()))],
    });

  test('has no axe-core violation during play, and offline', async () => {
    const context = await lab.browser.newContext(look);
    const { learner } = await lab.start({ version: await publish(), context });
    const main = learner.lesson.getByRole('main').getByRole('heading', { level: 1 });
    expect(await main.count()).toBe(1);
    expect(await faultsOf(learner.page)).toEqual([]);

    await context.setOffline(true);
    await learner.lesson.getByRole('radio', { name: 'b' }).check();
    await learner.lesson.locator('.lectern-question button').click();
    await learner.outer.getByRole('status').getByRole('paragraph').waitFor();
    expect(await faultsOf(learner.page)).toEqual([]);
  });

  test('has none when it cannot play or waits for a token, and is readable without scripts', async () => {
    const version = await publish();
    const context = await lab.browser.newContext(look);
    const scriptless = await lab.browser.newContext({ ...look, javaScriptEnabled: false });
    const plain = await scriptless.newPage();
    for (const token of ['', buildLearnerToken(version, { seconds: -10 })]) {
      const learner = await lab.open(version, { context, token });
      await learner.outer.getByRole('heading', { level: 1 }).waitFor();
      expect(await faultsOf(learner.page)).toEqual([]);

      await plain.goto(`${lab.api.url}/embed/${version.lessonId}${token && `?token=${token}`}`);
      await plain.getByRole('heading', { level: 1 }).waitFor();
      expect(await plain.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
      expect(await plain.locator('.loading').filter({ visible: true }).count()).toBe(0);
    }
  });
});
