import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { buildLearnerToken, buildPreviewToken } from '../../support/factories.ts';
import { useStarted } from '../../support/use.ts';
import { publishLesson, question, section, step } from '../player-lessons.ts';
import { press, useEmbedLab } from './embed-lab.ts';
import { waitFor } from '../../support/wait-for.ts';

const lab = useEmbedLab();

/** Stands in for the browser's dialog, which stays open until a test closes it. Runs in each frame. */
const dialog = `window.print = () => {
  dispatchEvent(new Event('beforeprint'));
  window.closeDialog = () => dispatchEvent(new Event('afterprint'));
}`;

const words = (id: string) => ({ type: 'Text', props: { id: `${id}-text`, html: `<p>${id} words</p>` } });
/** More text than the first chunk of a lesson holds. */
const long = { type: 'Text', props: { id: 'long', html: `<p>${'Many words. '.repeat(4_000)}</p>` } };
const stepIds = Array.from({ length: 6 }, (_, index) => `s${index + 1}`);
const explained = { ...question('q1'), props: { ...question('q1').props, explanation: '<p>Because.</p>' } };
const panels = ['First', 'Second'].map((title) => ({
  title,
  body: [{ type: 'Text', props: { id: title, html: `<p>${title} panel</p>` } }],
}));
const closed = { type: 'Accordion', props: { id: 'accordion', single: true, panels } };

const version = useStarted(() => {
  const steps = stepIds.map((id) => {
    const more = id === 's1' ? [closed] : id === 's2' ? [explained] : [];
    return step(id, words(id), { ...long, props: { ...long.props, id: `${id}-long` } }, ...more);
  });
  return publishLesson(lab.api, lab.api.organization, { sections: [section('one', ...steps)] });
});

/** Opens the hosted page in a wide window. */
async function open(token: string) {
  const context = await lab.browser.newContext({ viewport: { width: 1280, height: 700 } });
  await context.addInitScript(dialog);
  const page = await context.newPage();
  await page.goto(`${lab.api.url}/embed/${version.lessonId}?token=${token}`);
  const lesson = page.frameLocator('.lectern-embed-frame');
  await lesson.getByRole('heading', { level: 1 }).waitFor();
  return { page, lesson };
}

/** Waits until a frame prints: the inner one, whose print styles apply from now on. */
async function printingFrame(page: Page) {
  const frame = await waitFor('the dialog', async () => {
    for (const each of page.frames()) {
      if ((await each.evaluate<string>('typeof closeDialog').catch(() => '')) === 'function') return each;
    }
    return undefined;
  });
  expect(frame.parentFrame()).toBe(page.mainFrame());
  await page.emulateMedia({ media: 'print' });
  return frame;
}

describe('Print lesson', () => {
  test('prints all steps in order for learners, also those that were not loaded, without answers', async () => {
    const { page, lesson } = await open(buildLearnerToken(version));
    await press({ lesson }, 'Print lesson');
    const frame = await printingFrame(page);
    const steps = frame.locator('.lectern-paper > .lectern-step');
    const printed = (await steps.allTextContents()).map((content) => /s\d+ words/.exec(content)?.[0]);
    expect(printed).toEqual(stepIds.map((id) => `${id} words`));
    expect(await frame.locator('.lectern-paper :checked').count()).toBe(0);
    // A4 and Letter, without margins of 1 cm.
    for (const width of [718, 740]) {
      await page.setViewportSize({ width, height: 1000 });
      await expect.poll(() => frame.evaluate('document.documentElement.scrollWidth')).toBe(width);
      for (const panel of ['First panel', 'Second panel', 's1 words', 's6 words']) {
        const box = await steps.getByText(panel).boundingBox();
        expect(box?.width, panel).toBeGreaterThan(500);
      }
      expect(
        await frame.locator('.lectern-lesson > :not(.lectern-paper)').filter({ visible: true }).count(),
      ).toBe(0);
      expect(await frame.getByText('Because.').isVisible()).toBe(false);
    }
    await page.emulateMedia({ media: 'screen' });
    await frame.evaluate('closeDialog()');
    await expect.poll(() => frame.locator('.lectern-paper, .lectern-is-off-paper').count()).toBe(0);
    expect(await frame.locator('.lectern-prints').textContent()).toBe('Print lesson');
  });

  test('prints right answers and their explanations for teachers who ask for them', async () => {
    const { page, lesson } = await open(buildPreviewToken(version));
    await press({ lesson }, 'Print with answers');
    const frame = await printingFrame(page);
    expect(await frame.locator('.lectern-paper :checked').count()).toBe(1);
    expect(await frame.getByText('Because.').isVisible()).toBe(true);
  });

  test('the keys of the browser print the step from its frame, wherever the focus is', async () => {
    const { page, lesson } = await open(buildLearnerToken(version));
    for (const place of ['page', 'frame']) {
      if (place === 'frame') await lesson.getByRole('heading', { level: 1 }).click();
      await page.keyboard.press('Control+p');
      const frame = await printingFrame(page);
      await lesson.getByText('Second panel').waitFor();
      expect(await frame.locator('.lectern-paper').count()).toBe(0);
      await page.emulateMedia({ media: 'screen' });
      await frame.evaluate('closeDialog(), delete window.closeDialog');
    }
  });
});
