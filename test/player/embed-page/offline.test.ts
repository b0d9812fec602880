import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import {
  answersIn,
  choose,
  outerFrame,
  seeChosen,
  press,
  seeKept,
  seeStep,
  useEmbedLab,
} from './embed-lab.ts';
import type { HostPage, Progress } from './embed-lab.ts';
import { publishQuiz } from './lessons.ts';

const lab = useEmbedLab();
const putAway = ({ page }: HostPage) => outerFrame(page)?.evaluate("dispatchEvent(new Event('pagehide'))");
const continueHere = ({ outer }: HostPage) => outer.getByRole('button', { name: 'Continue here' }).click();

test('offline the lesson continues with a notice, and everything is saved once the network is back', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const learner = await lab.open(version, { context });
  await seeStep(learner, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  const status = learner.outer.getByRole('status');

  await context.setOffline(true);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await press(learner, 'Next');
  await choose(learner, 'b');
  await status.getByText('No connection. Your answers are safe on this device').waitFor();
  expect(answersIn(await lab.progressOf(version))).toEqual({});

  await context.setOffline(false);
  await status.getByText('Everything is saved.').waitFor();
  expect(await lab.progressOf(version)).toMatchObject({ score: 3, currentSectionIndex: 1 });
});

test('a tab closed offline loses nothing: everything is restored and saved when it opens again', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const learner = await lab.open(version, { context });
  await seeStep(learner, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await context.setOffline(true);
  await press(learner, 'Next');
  await choose(learner, 'a');
  await learner.outer.getByRole('status').getByText('No connection.').waitFor();
  expect(answersIn(await lab.progressOf(version))).toEqual({});
  await seeKept(learner, 'q2');
  await learner.page.close();
  await context.setOffline(false);

  const again = await lab.open(version, { context });
  await seeStep(again, 's2');
  await seeChosen(again, 'a');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
});

test('answers and a finish made offline do not change a later attempt on another device or its grade', async () => {
  const version = await publishQuiz(lab);
  const phone = await lab.open(version);
  const finishWith = async (page: HostPage, choice: string) => {
    for (const last of ['Next', 'Finish']) {
      await choose(page, choice);
      await press(page, last);
    }
  };
  await press(phone, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
  await phone.page.context().setOffline(true);
  // A phone sends everything when it is hidden: these writes count as sent, and outnumber the
  // laptop's writes.
  for (const button of Array.from({ length: 8 }, () => ['Next', 'Back']).flat()) {
    await press(phone, button);
    await putAway(phone);
  }
  await finishWith(phone, 'a');
  await putAway(phone);
  await phone.outer.getByRole('status').getByText('No connection.').waitFor();

  const laptop = await lab.open(version);
  await finishWith(laptop, 'b');
  await waitFor('the end', async () => (await lab.progressOf(version))?.status === 'completed');
  await press(laptop, 'Start again');
  await laptop.lesson.getByRole('dialog').getByRole('button', { name: 'Start again' }).click();
  await seeStep(laptop, 's1');
  await press(laptop, 'Next');
  await choose(laptop, 'a');
  await waitFor(
    'the second attempt',
    async () => answersIn(await lab.progressOf(version)).q2?.toString() === 'a',
  );
  const { score, items }: Partial<Progress> = (await lab.progressOf(version)) ?? {};
  expect({ score, items }).toMatchObject({ score: 0, items: [{ widgetId: 'q2', answer: ['a'] }] });

  await phone.page.context().setOffline(false);
  await continueHere(phone);
  await waitFor("the phone's step", async () => (await lab.progressOf(version))?.currentSectionIndex === 1);
  expect(await lab.progressOf(version)).toMatchObject({ score, items });
});

test('a captive portal that responds in place of Lectern causes no loss', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version);
  await seeStep(learner, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  const answers = [
    { status: 200, contentType: 'text/html', body: '<title>Log in</title>' },
    { status: 404, json: { message: 'no route' } },
  ];
  await learner.page.route('**/session?*', (route) => {
    const answer = answers.shift();
    return answer === undefined ? route.continue() : route.fulfill(answer);
  });
  await press(learner, 'Next');
  await choose(learner, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
  expect(answers).toEqual([]);
  expect((await learner.events()).filter(({ type }) => type === 'error')).toEqual([]);
});

test('a browser without storage still saves, and keeps its answers while the page is open', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  await context.addInitScript(`Storage.prototype.setItem = () => {
    throw new DOMException('blocked', 'SecurityError');
  };
  globalThis.BroadcastChannel = class {
    constructor() { throw new DOMException('blocked', 'SecurityError'); }
  };`);
  const learner = await lab.open(version, { context });
  await seeStep(learner, 's1');
  await context.setOffline(true);
  await press(learner, 'Next');
  await choose(learner, 'b');
  const status = learner.outer.getByRole('status');
  await status.getByText('No connection. Keep this page open until we’ve saved your answers.').waitFor();
  await context.setOffline(false);
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
});

test('notices are visible where the learner has scrolled to, even far down in a long lesson', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext({ viewport: { width: 600, height: 160 } });
  const learner = await lab.open(version, { context });
  await press(learner, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
  await context.setOffline(true);
  await choose(learner, 'b');
  const inView = async () => {
    const { y = -1, height = 0 } = (await learner.outer.getByText('No connection.').boundingBox()) ?? {};
    return y >= 0 && y + height <= 160;
  };
  await waitFor('the notice in view', inView);
  const before = await learner.page.evaluate<number>('scrollY');
  expect(before).toBeGreaterThan(160);
  await learner.page.evaluate(`scrollTo(0, ${before - 160})`);
  await waitFor('the notice, which follows', inView);
});
