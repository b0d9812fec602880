import { expect, test } from 'vitest';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import { buildLaunchToken, buildLearnerToken } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answersIn, choose, seeChosen, press, seeStep, useEmbedLab } from './embed-lab.ts';
import { publishQuiz, publishStyled } from './lessons.ts';

const lab = useEmbedLab();

test('a lesson plays in a cross-site iframe, and its progress is saved', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version);
  const { page, event } = learner;
  const { lessonId, _id: versionId } = version;
  expect(await event('ready')).toEqual({
    type: 'ready',
    lessonId,
    versionId,
    title: 'A lesson',
    totalSteps: 3,
    status: 'not_started',
  });
  expect(await page.locator('#course iframe').getAttribute('title')).toBe('A lesson');
  await waitFor('the first view', async () => (await lab.progressOf(version))?.status === 'not_started');

  await press(learner, 'Next');
  expect(await event('step')).toMatchObject({
    sectionIndex: 0,
    stepIndex: 1,
    stepId: 's2',
    totalSteps: 3,
    status: 'in_progress',
  });
  await choose(learner, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
  await press(learner, 'Next');
  await choose(learner, 'a');
  await press(learner, 'Finish');

  expect(await event('complete')).toMatchObject({ lessonId, versionId, score: 2, maxScore: 3 });
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
  });
  // The host page gets the event once it is saved.
  expect((await event('complete')).completedAt).toBe((await lab.progressOf(version))?.completedAt);
});

test('the page requests only the stylesheets that custom widgets have', async () => {
  const version = await publishStyled(lab);
  const context = await lab.browser.newContext();
  const files: string[] = [];
  context.on('request', (request) => {
    const [, file] = /\/content\/.*\/widgets\/(.+)$/.exec(request.url()) ?? [];
    if (file !== undefined) files.push(file);
  });
  const { lesson } = await lab.open(version, { context });
  for (const type of ['Styled', 'Plain']) await lesson.getByText(type, { exact: true }).waitFor();
  expect(files.toSorted()).toEqual(['Plain.js', 'Styled.css', 'Styled.js']);
  await context.close();
});

test('the frame stays as high as the lesson, whatever happens in it', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version);
  const { page, event, lesson } = learner;
  const frame = page.locator('#course iframe');
  async function expectFit(): Promise<void> {
    await waitFor('the height of the lesson', async () => {
      const { height } = await event('resize');
      const shown = await lesson.locator('.lectern-lesson').boundingBox();
      return (
        height === Math.ceil(shown?.height ?? 0) &&
        (await frame.boundingBox())?.height === Math.max(320, Number(height))
      );
    });
  }
  await seeStep(learner, 's1');
  await expectFit();
  await press(learner, 'Next');
  await choose(learner, 'b');
  await expectFit();
  await page.setViewportSize({ width: 320, height: 700 });
  await expectFit();
});

test('a learner who closes the tab in mid-lesson resumes at the same step with the same answers', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const first = await lab.open(version, { context });
  await press(first, 'Next');
  await choose(first, 'a');
  await press(first, 'Next');
  await waitFor('the third step', async () => (await first.event('step')).stepId === 's3');
  await first.page.close();

  const again = await lab.open(version, { context });
  await seeStep(again, 's3');
  await press(again, 'Back');
  await seeChosen(again, 'a');

  await waitFor('the record', async () => answersIn(await lab.progressOf(version)).q2);
  const elsewhere = await lab.open(version);
  await seeStep(elsewhere, 's2');
  await seeChosen(elsewhere, 'a');
});

test('a page closed right after an answer loses nothing', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await learner.lesson.getByText('Correct', { exact: true }).waitFor();
  await learner.page.close();
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2, 60_000);
});

test('the token is removed from the URL, and a deep link opens its step', async () => {
  const version = await publishQuiz(lab);
  const token = buildLearnerToken(version);
  const learner = await lab.open(version, { token, more: `startAt: 's3'` });
  await seeStep(learner, 's3');
  const outer = learner.page.frames().find((frame) => frame.url().includes('/embed/'));
  expect(outer?.url()).not.toContain('token');
  expect(await outer?.evaluate('document.documentElement.outerHTML')).not.toContain(token);
});

test("a deep link counts once: a reload resumes at the learner's current step", async () => {
  const version = await publishQuiz(lab);
  const page = await lab.browser.newPage();
  const lesson = page.frameLocator('iframe');
  await page.goto(`${lab.address}/embed/${version.lessonId}?token=${buildLearnerToken(version)}#step=s2`);
  await seeStep({ lesson }, 's2');
  await press({ lesson }, 'Next');
  await seeStep({ lesson }, 's3');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentSectionIndex === 1);
  await page.reload();
  await seeStep({ lesson }, 's3');
  expect(await lab.progressOf(version)).toMatchObject({ currentSectionIndex: 1, currentStepIndex: 0 });
});

test('a variable set by an answer is saved and restored on another device', async () => {
  const { type, props } = question('q1');
  const variable = { type, props: { ...props, variable: 'tide' } };
  const text = { type: 'Text', props: { id: 'text', html: '<p>The tide is {{tide}}.</p>' } };
  const sections = [section('one', step('s1', variable), { ...step('s2', heading(), text), order_index: 1 })];
  const version = await publishLesson(lab.harness, lab.organization, { sections });
  const learner = await lab.open(version);
  await choose(learner, 'b');
  await press(learner, 'Next');
  await seeStep(learner, 's2');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
  expect(await lab.progressOf(version)).toMatchObject({ variableState: { tide: ['b'] } });
  const elsewhere = await lab.open(version);
  await elsewhere.lesson.getByText('The tide is b.').waitFor();
});

test('a learner from a learning platform resumes in the same way', async () => {
  const version = await publishQuiz(lab);
  const first = await lab.open(version, { token: buildLaunchToken(version) });
  await press(first, 'Next');
  await choose(first, 'b');
  await press(first, 'Next');
  await press(first, 'Finish');
  expect(await first.event('complete')).toMatchObject({ score: 66.6667, maxScore: 100 });
  await first.page.close();

  const again = await lab.open(version, { token: buildLaunchToken(version) });
  expect(await again.event('ready')).toMatchObject({ status: 'completed' });
  await press(again, 'Back to the lesson');
  await press(again, 'Back');
  await seeChosen(again, 'b');
});

test('a restart by the learner clears the answers and keeps the achieved completion', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await press(learner, 'Next');
  await press(learner, 'Finish');
  await learner.event('complete');
  await press(learner, 'Start again');
  await learner.lesson.getByRole('dialog').getByRole('button', { name: 'Start again' }).click();
  await seeStep(learner, 's1');
  await waitFor('the restart', async () => (await lab.progressOf(version))?.items === null);
  expect(await lab.progressOf(version)).toMatchObject({
    status: 'completed',
    score: null,
    currentStepIndex: 0,
  });
});
