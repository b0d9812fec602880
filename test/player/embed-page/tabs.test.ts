import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { answersIn, choose, seeChosen, press, seeStep, useEmbedLab } from './embed-lab.ts';
import { publishQuiz } from './lessons.ts';

const lab = useEmbedLab();

test('a second tab takes over, the first one shows a notice, and nothing of either is lost', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const first = await lab.open(version, { context });
  await press(first, 'Next');
  await choose(first, 'b');

  const second = await lab.open(version, { context });
  await seeStep(second, 's2');
  const told = first.outer.getByRole('alert');
  await told.getByText('This lesson is open in another tab.').waitFor();
  expect(await first.outer.locator('iframe').getAttribute('inert')).not.toBeNull();
  await press(second, 'Next');
  await choose(second, 'a');
  await waitFor(
    'both answers',
    async () => Object.keys(answersIn(await lab.progressOf(version))).length === 2,
  );

  await told.getByRole('button', { name: 'Continue here' }).click();
  await seeStep(first, 's3');
  await seeChosen(first, 'a');
  await second.outer.getByRole('alert').getByText('This lesson is open in another tab.').waitFor();
  await press(first, 'Finish');
  expect(await first.event('complete')).toMatchObject({ score: 2, maxScore: 3 });
});

test('unsaved changes of the first tab move to the second', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const first = await lab.open(version, { context });
  await seeStep(first, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await first.page.route('**/session?*', (route) => route.abort());
  await press(first, 'Next');
  await choose(first, 'b');

  const second = await lab.open(version, { context });
  await seeStep(second, 's2');
  await seeChosen(second, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
});

test("on another device the learner decides where to continue, and both devices' answers are kept", async () => {
  const version = await publishQuiz(lab);
  const phone = await lab.open(version);
  await press(phone, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
  const laptop = await lab.open(version);
  await seeStep(laptop, 's2');
  await press(laptop, 'Next');
  await choose(laptop, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q3);

  await choose(phone, 'b');
  const told = phone.outer.getByRole('alert');
  await told.getByText('You’ve continued this lesson in another tab or on another device.').waitFor();
  await told.getByRole('button', { name: 'Continue here' }).click();
  await waitFor('both answers', async () => (await lab.progressOf(version))?.score === 3);
  await seeStep(phone, 's2');
  await seeChosen(phone, 'b');
  await press(phone, 'Next');
  await seeChosen(phone, 'b');
});
