import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import { faultsIn } from '../../support/axe.ts';
import { buildLearnerToken } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { seeStep, useEmbedLab } from './embed-lab.ts';

const lab = useEmbedLab();

/** Checks Lectern's page and the frame inside; host pages belong to their owners. */
async function faultsOf(page: Page): Promise<string[]> {
  const [, outer, inner] = page.frames();
  if (outer === undefined) throw new Error('there is no frame');
  const faults = await faultsIn(outer);
  if (inner === undefined) return faults;
  // The heading and main landmark are in the inner frame.
  const here = faults.filter((fault) => !/^(landmark-one-main|page-has-heading-one):/.test(fault));
  return [...here, ...(await faultsIn(inner))];
}

describe.each([
  ['light', 'en'],
  ['dark', 'en'],
  ['light', 'ar'],
] as const)(
  'axe-core finds no violation in the page of a hosted lesson, %s, in %s,',
  (colorScheme, language) => {
    const look = { colorScheme, locale: language, viewport: { width: 400, height: 700 } };
    const publish = () =>
      publishLesson(lab.harness, lab.organization, {
        lesson: { language },
        sections: [section('one', step('s1', question('q1')), { ...step('s2', heading()), order_index: 1 })],
      });

    test('during play, offline, and after another tab took over', async () => {
      const version = await publish();
      const context = await lab.browser.newContext(look);
      const learner = await lab.open(version, { context });
      await seeStep(learner, 's1');
      await waitFor('the first view', () => lab.progressOf(version));
      expect(await faultsOf(learner.page)).toEqual([]);

      await context.setOffline(true);
      await learner.lesson.getByRole('radio', { name: 'b' }).check();
      await learner.lesson.locator('.lectern-question button').click();
      await learner.outer.getByRole('status').getByRole('paragraph').waitFor();
      expect(await faultsOf(learner.page)).toEqual([]);

      await context.setOffline(false);
      await lab.open(version, { context });
      await learner.outer.getByRole('alert').getByRole('button').waitFor();
      expect(await faultsOf(learner.page)).toEqual([]);
      await context.close();
    });

    test('when it cannot be shown, and while it waits for a token', async () => {
      const version = await publish();
      const context = await lab.browser.newContext(look);
      for (const token of ['', 'no-token', buildLearnerToken(version, { seconds: -10 })]) {
        const learner = await lab.open(version, { context, token });
        await learner.outer.getByRole('heading', { level: 1 }).waitFor();
        expect(await faultsOf(learner.page)).toEqual([]);
        await learner.page.close();
      }
      await context.close();
    });
  },
);
