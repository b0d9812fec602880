import { expect, test } from 'vitest';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import { unpublish } from '../../../shared/publishing/publishing.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answersIn, choose, seeChosen, press, seeKept, seeStep, useEmbedLab } from './embed-lab.ts';
import type { EmbedLab } from './embed-lab.ts';
import { publishQuiz } from './lessons.ts';

const lab = useEmbedLab();

/** The next version: another choice of q2 is right, and a new step comes first. */
function publishNext({ harness, organization }: EmbedLab, lessonId: string) {
  const { type, props } = question('q2', 2);
  const steps = [
    step('s0', heading()),
    { ...step('s1', heading()), order_index: 1 },
    { ...step('s2', { type, props: { ...props, correct: ['a'] } }), order_index: 2 },
    { ...step('s3', question('q3')), order_index: 3 },
  ];
  return publishLesson(harness, organization, { lessonId, sections: [section('one', ...steps)] });
}

test('a version published in mid-lesson loses no answer, and each version scores answers by its own rules', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const learner = await lab.open(version, { context });
  await press(learner, 'Next');
  await seeStep(learner, 's2');
  const next = await publishNext(lab, version.lessonId);
  await choose(learner, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
  expect((await lab.progressOf(version))?.score).toBe(2);
  await learner.page.close();

  const again = await lab.open(next, { context });
  expect((await again.event('ready')).versionId).toBe(next._id);
  await seeStep(again, 's2');
  await seeChosen(again, 'b');
  await press(again, 'Next');
  await choose(again, 'b');
  await waitFor('the other answer', async () => answersIn(await lab.progressOf(version)).q3);
  // Another choice of q2 is right now.
  expect(await lab.progressOf(version)).toMatchObject({ score: 1, maxScore: 3 });
});

test('unpublishing the version in play loses no answer, neither later ones nor those stored offline', async () => {
  const version = await publishQuiz(lab);
  const next = await publishNext(lab, version.lessonId);
  const context = await lab.browser.newContext();
  const learner = await lab.open(next, { context });
  await seeStep(learner, 's0');
  await press(learner, 'Next');
  await press(learner, 'Next');
  await seeStep(learner, 's2');
  await unpublish(lab.harness.db, next.lessonId, next._id);
  await choose(learner, 'a');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);

  await press(learner, 'Next');
  await context.setOffline(true);
  await choose(learner, 'b');
  await press(learner, 'Finish');
  await seeKept(learner, 'q3');
  await seeKept(learner, 'completed');
  await learner.page.close();
  await context.setOffline(false);
  await lab.open(version, { context });
  await waitFor('the end', async () => (await lab.progressOf(version))?.status === 'completed');
  expect(answersIn(await lab.progressOf(version))).toMatchObject({ q2: ['a'], q3: ['b'] });
});

test('answers waiting in the browser are saved to their own version before the new one is shown', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const learner = await lab.open(version, { context });
  await seeStep(learner, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await context.setOffline(true);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await seeKept(learner, 'q2');
  await learner.page.close();
  const next = await publishNext(lab, version.lessonId);
  await context.setOffline(false);

  const again = await lab.open(next, { context });
  expect((await again.event('ready')).versionId).toBe(next._id);
  await seeStep(again, 's2');
  await seeChosen(again, 'b');
  expect(await lab.progressOf(version)).toMatchObject({
    score: 2,
    items: [{ widgetId: 'q2', answer: ['b'] }],
  });
});
