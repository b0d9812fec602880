import { expect, test, describe } from 'vitest';
import { preparePreview } from '../../../shared/publishing/publishing.ts';
import { buildLearnerToken, buildPreviewToken } from '../../support/factories.ts';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import {
  answersIn,
  choose,
  outerFrame,
  press,
  publishQuiz,
  reloadFrame,
  seeChosen,
  seeStep,
  useEmbedLab,
  finishAnyway,
} from './embed-lab.ts';
import type { Page } from 'playwright-core';
import { useStarted } from '../../support/use.ts';
import { waitFor } from '../../support/wait-for.ts';

const lab = useEmbedLab();

test('a lesson plays in a cross-site iframe, and its progress is saved', async () => {
  const { version, learner } = await lab.start();
  const { page, event } = learner;
  const { lessonId, _id: versionId } = version;
  const about = { lessonId, versionId };
  const ready = { ...about, title: 'A lesson', totalSteps: 3, status: 'not_started' };
  expect(await event('ready')).toEqual({ type: 'ready', ...ready });
  expect(await page.locator('#course iframe').getAttribute('title')).toBe('A lesson');
  expect(await lab.progressOf(version)).toMatchObject({ status: 'not_started' });

  // Only teachers may present.
  expect(await learner.lesson.getByRole('button', { name: 'Present' }).count()).toBe(0);
  await press(learner, 'Next');
  const second = { sectionIndex: 0, stepIndex: 1, stepId: 's2', totalSteps: 3 };
  expect(await event('step')).toMatchObject({ ...second, status: 'in_progress' });
  await choose(learner, 'b');
  await lab.seeSaved(version, { q2: ['b'] });
  await press(learner, 'Next');
  await choose(learner, 'a');
  await press(learner, 'Finish');

  const { completedAt, ...result } = await event('complete');
  expect(result).toMatchObject({ ...about, score: 2, maxScore: 3 });
  expect(await lab.progressOf(version)).toMatchObject({
    status: 'completed',
    score: 2,
    maxScore: 3,
    currentSectionIndex: 1,
    currentStepIndex: 0,
    totalSteps: 3,
    items: [
      { widgetId: 'q2', stepId: 's2', answer: ['b'], score: 2, maxScore: 2 },
      { widgetId: 'q3', stepId: 's3', answer: ['a'], score: 0, maxScore: 1 },
    ],
    // The host page gets the event once it is saved.
    completedAt,
  });
});

test('a lesson starts whichever of page and frame listens first; a waiting frame says that it is loading', async () => {
  const version = await publishQuiz({ api: lab.api });
  const early = await lab.browser.newContext();
  const frameListens = new Promise<void>((resolve) => {
    void early.exposeBinding('frameListens', () => resolve());
  });
  await early.addInitScript(`addEventListener('message', ({ data }) => {
    if (data?.source === 'lectern-frame') frameListens();
  })`);
  await early.route('**/embed-page.js', async (route) => {
    await frameListens;
    await early.pages()[0]?.frameLocator('#course iframe').locator('.loading').waitFor();
    await route.continue();
  });
  await seeStep(await lab.open(version, { context: early }), 's1');

  const late = await lab.browser.newContext();
  await late.route('**/frame.html', async (route) => {
    const outer = late.pages()[0]?.frameLocator('#course iframe');
    await outer?.locator('body.lectern-embed').waitFor({ state: 'attached' });
    await route.continue();
  });
  await seeStep(await lab.open(version, { context: late }), 's1');
});

test('a page whose script does not run says to update the browser, and one whose script runs does not', async () => {
  const version = await publishQuiz(lab);
  const url = `${lab.api.url}/embed/${version.lessonId}?token=${buildLearnerToken(version)}`;
  const page = await lab.browser.newPage();
  await page.route('**/embed-page.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: '?' }),
  );
  await page.goto(url);
  const line = page.getByText('update your browser');
  await line.waitFor({ state: 'attached' });
  expect(await line.isVisible()).toBe(false);
  await page.evaluate('document.getAnimations().forEach((animation) => animation.finish())');
  await line.waitFor();

  await page.unroute('**/embed-page.js');
  await page.reload();
  await seeStep({ lesson: page.frameLocator('iframe') }, 's1');
  expect(await line.count()).toBe(0);
});

test('a learner who closes the tab in mid-lesson resumes with the same step, answers and variables, on any device', async () => {
  const { type, props } = question('q2');
  const variable = { type, props: { ...props, variable: 'tide' } };
  const text = { type: 'Text', props: { id: 'text', html: '<p>The tide is {{tide}}.</p>' } };
  const sections = [section('one', step('s1', heading()), step('s2', variable), step('s3', text))];
  const published = await publishLesson(lab.api, lab.api.organization, { sections });
  const { version, context, learner: first } = await lab.start({ version: published });
  await press(first, 'Next');
  await choose(first, 'a');
  await press(first, 'Next');
  await lab.seeRecord(version, { currentStepIndex: 2, variableState: { tide: ['a'] } });
  await first.page.close();

  for (const options of [{ context }, {}]) {
    const again = await lab.open(version, options);
    await seeStep(again, 's3');
    await again.lesson.getByText('The tide is a.').waitFor();
    if (options.context !== undefined) continue;
    await press(again, 'Back');
    await seeChosen(again, 'a');
  }
});

test("a deep link opens its step once: a reload resumes at the learner's current step, and no URL has the token", async () => {
  const version = await publishQuiz(lab);
  const token = buildLearnerToken(version);
  const learner = await lab.open(version, { token, more: `startAt: 's2'` });
  await seeStep(learner, 's2');
  const outer = outerFrame(learner.page);
  expect(outer?.url()).not.toContain('token');
  expect(await outer?.evaluate('document.documentElement.outerHTML')).not.toContain(token);
  await press(learner, 'Next');
  await lab.seeRecord(version, { currentSectionIndex: 1, currentStepIndex: 0 });
  await reloadFrame(learner);
  await seeStep(learner, 's3');
});

test("the browser's Back and Forward go through steps with their titles, and a copied link opens the step", async () => {
  const version = await publishQuiz(lab);
  const url = `${lab.api.url}/embed/${version.lessonId}?token=${buildLearnerToken(version)}`;
  const page = await lab.browser.newPage();
  const lesson = { lesson: page.frameLocator('iframe') };
  await page.goto(url);
  await seeStep(lesson, 's1');
  for (const stepId of ['s2', 's3']) {
    await press(lesson, 'Next');
    await seeStep(lesson, stepId);
    await expect.poll(() => new URL(page.url()).hash).toBe(`#step=${stepId}`);
  }
  const devtools = await page.context().newCDPSession(page);
  const titles = async () => {
    const { entries } = await devtools.send('Page.getNavigationHistory');
    return entries.map(({ title }) => title).slice(-3);
  };
  await expect.poll(titles).toEqual(['s1', 's2', 's3'].map((id) => `Title of ${id} – A lesson`));
  await page.goBack();
  await seeStep(lesson, 's2');
  await expect.poll(() => page.title()).toBe('Title of s2 – A lesson');
  // Some screen readers name the inner frame after its document.
  expect(await page.frames().at(-1)?.title()).toBe('Title of s2');
  await page.goForward();
  await seeStep(lesson, 's3');
  await finishAnyway(lesson);
  const end = page.frameLocator('iframe').getByRole('heading', { name: 'Lesson complete' });
  await end.waitFor();
  await page.reload();
  await end.waitFor();
  await page.goto('about:blank');
  await page.goto(`${url}#step=s2`);
  await seeStep(lesson, 's2');
});

test('a restart clears the answers and keeps the achieved completion; dialogs focus the button that changes nothing', async () => {
  const { version, learner } = await lab.start();
  const errors: string[] = [];
  learner.page.on('console', (line) => {
    if (line.type() === 'error') errors.push(line.text());
  });
  await press(learner, 'Next');
  await choose(learner, 'b');
  await press(learner, 'Next');
  await press(learner, 'Finish');
  await expect.poll(() => learner.lesson.locator(':focus').textContent()).toBe('Keep working');
  expect(errors).toEqual([]);
  await learner.lesson.getByRole('dialog').getByRole('button', { name: 'Finish' }).click();
  await learner.event('complete');
  await press(learner, 'Start again');
  await learner.lesson.getByRole('dialog').getByRole('button', { name: 'Start again' }).click();
  await seeStep(learner, 's1');
  const restarted = { items: null, score: null, currentStepIndex: 0 };
  await lab.seeRecord(version, { status: 'completed', ...restarted });
});

test('a preview of a draft plays to its end under a notice, and sends and stores nothing', async () => {
  const { api } = lab;
  const sections = [section('one', step('s1', question('q1')), step('s2', heading()))];
  const { _id: draftId } = await publishLesson(api, api.organization, { publish: false, sections });
  const draft = await preparePreview(api.db, api.store, draftId);
  const page = await lab.browser.newPage();
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') writes.push(request.url());
  });
  const lesson = { lesson: page.frameLocator('iframe') };
  for (let visit = 0; visit < 2; visit += 1) {
    await page.goto(`${api.url}/embed/${draft.lessonId}?token=${buildPreviewToken(draft)}`);
    await page.getByText('Preview: we don’t record your answers.', { exact: true }).waitFor();
    await seeStep(lesson, 's1');
    await choose(lesson, 'b');
    await seeChosen(lesson, 'b');
    await press(lesson, 'Next');
    await seeStep(lesson, 's2');
  }
  // Teachers and authors can show it to a class.
  await press(lesson, 'Present');
  const fullScreen = () => page.evaluate('document.fullscreenElement?.tagName');
  await expect.poll(fullScreen).toBe('IFRAME');
  await press(lesson, 'End presentation');
  await expect.poll(fullScreen).toBe(undefined);
  expect(writes).toEqual([]);
  expect(await page.evaluate<string>('JSON.stringify(localStorage)')).not.toContain('q1');
  expect(answersIn(await lab.progressOf(draft))).toEqual({});
});

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
