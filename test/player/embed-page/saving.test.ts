import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { requestErasure } from '../../../shared/erasure/erase.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { buildLearnerToken } from '../../support/factories.ts';
import { testPepper } from '../../support/harness.ts';
import { waitFor } from '../../support/wait-for.ts';
import { heading, Player, publishLesson, question, section, step } from '../player-lessons.ts';
import {
  answersIn,
  choose,
  outerFrame,
  press,
  seeChosen,
  seeKept,
  seeNotice,
  seeStep,
  storageOf,
  useEmbedLab,
} from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';

const lab = useEmbedLab();

/** Publishes s1 with the question q1, which allows two tries, and a text field; s2 has the question q2. */
function publishEssay(): Promise<LessonVersion> {
  const { type, props } = question('q1');
  const essay = { type: 'OpenResponse', props: { id: 'essay', prompt: 'Why do tides exist?' } };
  const first = step('s1', { type, props: { ...props, attempts: 2 } }, essay);
  const sections = [section('one', first, step('s2', question('q2')))];
  return publishLesson(lab.api, lab.api.organization, { sections });
}

const write = ({ lesson }: HostPage, text: string) => lesson.getByRole('textbox').fill(text);
const seeText = ({ lesson }: HostPage, text: string) =>
  waitFor(`the text "${text}"`, async () => (await lesson.getByRole('textbox').inputValue()) === text);

test('active time is saved by step; a learner who goes away stops the clock', async () => {
  const context = await lab.browser.newContext();
  await context.clock.install();
  const { version, learner } = await lab.start({ context });
  const pass = async (seconds: number) => {
    for (let left = seconds; left > 0; left -= 10) await context.clock.runFor(10_000);
  };
  await pass(30);
  await press(learner, 'Next');
  await lab.seeRecord(version, { currentStepIndex: 1 });
  // Without any input, a minute counts.
  await pass(180);
  await learner.page.close();
  const times = async () =>
    (await lab.api.db.embedProgress.findOne({ lessonId: version.lessonId }).lean())?.stepTimes ?? [];
  await expect.poll(async () => (await times()).length).toBe(2);
  const [first = 0, second = 0] = await times();
  expect(first).toBeGreaterThanOrEqual(30_000);
  expect(second).toBeGreaterThan(55_000);
  expect(second).toBeLessThan(120_000);
});

describe('without a network', () => {
  test('the lesson continues with a notice, and everything is saved once the network is back', async () => {
    const { version, context, learner } = await lab.start();
    const mark = learner.lesson.locator('.lectern-saved');
    for (const width of [360, 820, 1280]) {
      await learner.page.setViewportSize({ width, height: 700 });
      await mark.waitFor();
      expect(await mark.textContent()).toBe('Saved');
    }
    // Nothing announces the mark.
    expect(await learner.lesson.locator(':is([role=status], [aria-live]) .lectern-saved').count()).toBe(0);
    await context.setOffline(true);
    await press(learner, 'Next');
    await choose(learner, 'b');
    await press(learner, 'Next');
    await choose(learner, 'b');
    await seeNotice(learner, 'No connection. Your answers are safe on this device');
    expect(await mark.isVisible()).toBe(false);
    expect(answersIn(await lab.progressOf(version))).toEqual({});

    // Going offline and coming back are announced once each; that all is saved follows quietly.
    const regions = learner.outer.locator('.lectern-embed-notices [role]');
    await regions.first().evaluate(`{
      const region = document.querySelector('.lectern-embed-notices [role=status]');
      window.announced = [];
      new MutationObserver(() => region.textContent && announced.push(region.textContent)).observe(region, { childList: true });
    }`);
    await context.setOffline(false);
    await seeNotice(learner, 'Everything is saved.');
    await mark.waitFor();
    expect(await regions.first().evaluate('announced')).toEqual(['You’re back online.']);
    expect(await lab.progressOf(version)).toMatchObject({ score: 3, currentSectionIndex: 1 });
  });

  test('a tab that is closed loses no answer, try or text: the next one restores and saves them', async () => {
    const { version, context, learner } = await lab.start({ version: await publishEssay() });
    await context.setOffline(true);
    // The last request of a page outlives it, and Chromium sends that one in spite of the offline emulation.
    await outerFrame(learner.page)?.evaluate(`fetch = () => Promise.reject(new TypeError('no network'))`);
    await choose(learner, 'a');
    await press(learner, 'Try again');
    await choose(learner, 'a');
    await write(learner, 'The moon');
    await seeKept(learner, 'The moon');
    await learner.page.close();
    await context.setOffline(false);
    expect(answersIn(await lab.progressOf(version))).toEqual({});

    const again = await lab.open(version, { context });
    await seeText(again, 'The moon');
    await seeChosen(again, 'a');
    await lab.seeSaved(version, { q1: ['a'], essay: 'The moon' });
    await lab.seeRecord(version, { items: [{ tries: 2, score: 0 }, {}] });
  });

  test('a captive portal that responds in place of Lectern causes no loss', async () => {
    const { version, learner } = await lab.start();
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
    await waitFor('both responses', async () => {
      // Ends the backoff.
      await outerFrame(learner.page)?.evaluate(`dispatchEvent(new Event('online'))`);
      return answers.length === 0;
    });
    await lab.seeSaved(version, { q2: ['b'] });
    expect(await learner.errorCodes()).toEqual([]);
  });

  test('a browser without storage still saves; its notice is visible wherever the learner has scrolled to', async () => {
    const context = await lab.browser.newContext({ viewport: { width: 600, height: 160 } });
    await context.addInitScript(`Storage.prototype.setItem = () => {
      throw new DOMException('blocked', 'SecurityError');
    };`);
    const { version, learner } = await lab.start({ context });
    await press(learner, 'Next');
    await lab.seeRecord(version, { currentStepIndex: 1 });
    await context.setOffline(true);
    await choose(learner, 'b');
    const notice = learner.outer.getByText(
      'No connection. Keep this page open until we’ve saved your answers.',
    );
    const inView = async () => {
      const { y = -1, height = 0 } = (await notice.boundingBox()) ?? {};
      return y >= 0 && y + height <= 160;
    };
    await waitFor('the notice in view', inView);
    const before = await learner.page.evaluate<number>('scrollY');
    expect(before).toBeGreaterThan(160);
    await learner.page.evaluate(`scrollTo(0, ${before - 160})`);
    await waitFor('the notice, which follows', inView);
    await context.setOffline(false);
    await lab.seeSaved(version, { q2: ['b'] });
  });
});

describe('in several tabs and on several devices', () => {
  test("two tabs side by side show each other's answers after their next save, and keep what is being typed", async () => {
    const { version, context, learner: first } = await lab.start({ version: await publishEssay() });
    const second = await lab.open(version, { context });
    await choose(first, 'b');
    await lab.seeSaved(version, { q1: ['b'] });
    await write(second, 'The moon');
    await press(second, 'Next');
    await choose(second, 'a');
    await lab.seeSaved(version, { q1: ['b'], essay: 'The moon', q2: ['a'] });
    await press(second, 'Back');
    await seeChosen(second, 'b');

    await write(first, 'The moon pulls');
    await seeText(first, 'The moon pulls');
    await press(first, 'Next');
    await seeChosen(first, 'a');
    await press(first, 'Finish');
    expect(await first.event('complete')).toMatchObject({ score: 1, maxScore: 2 });
    await lab.seeSaved(version, { q1: ['b'], essay: 'The moon pulls', q2: ['a'] });
  });

  test('what another device does leaves the focus where it is, also if it changes the step', async () => {
    const { version, learner } = await lab.start({ version: await publishEssay() });
    const laptop = new Player(lab.api.url, version, buildLearnerToken(version));
    const frame = learner.page.frames()[2];
    const focus = async (control: Locator) => {
      await control.focus();
      await frame?.evaluate('document.activeElement.isFirst = true');
    };
    const focused = () =>
      frame?.evaluate<string>(`[document.activeElement.isFirst, document.activeElement.tagName].join(' ')`);
    await laptop.write({ currentStepIndex: 1, items: [{ widgetId: 'q2', answer: ['b'] }] });
    await choose(learner, 'a');
    await focus(learner.lesson.getByRole('button', { name: 'Try again' }));
    const other = learner.lesson.locator('.lectern-outline-step').nth(1);
    await waitFor('the mark', async () => (await other.getAttribute('data-mark')) === 'right');
    expect(await focused()).toBe('true BUTTON');

    await laptop.write({ items: [{ widgetId: 'essay', answer: 'The moon' }] });
    await press(learner, 'Try again');
    await choose(learner, 'b');
    await focus(learner.lesson.getByRole('textbox'));
    await seeText(learner, 'The moon');
    await waitFor('the focus', async () => (await focused()) === ' TEXTAREA');
  });

  test('a restart on one device clears the other one, which was offline meanwhile', async () => {
    const { version, context, learner: phone } = await lab.start();
    await press(phone, 'Next');
    await lab.seeRecord(version, { currentStepIndex: 1 });
    await context.setOffline(true);
    await choose(phone, 'b');
    const laptop = new Player(lab.api.url, version, buildLearnerToken(version));
    await laptop.write({ attempt: 2, currentStepIndex: 0 });
    await context.setOffline(false);
    await seeStep(phone, 's1');
    await lab.seeRecord(version, { items: null });
  });
});

test('answers that wait while a version is published are saved to their own version; each scores by its own rules', async () => {
  const { version, context, learner } = await lab.start();
  await context.setOffline(true);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await seeKept(learner, 'q2');
  await learner.page.close();
  // Another choice of q2 is right now, and a new step comes first.
  const { type, props } = question('q2', 2);
  const steps = [
    step('s0', heading()),
    step('s1', heading()),
    step('s2', { type, props: { ...props, correct: ['a'] } }),
    step('s3', question('q3')),
  ];
  const sections = [section('one', ...steps)];
  const { lessonId } = version;
  const next = await publishLesson(lab.api, lab.api.organization, { lessonId, sections });
  await context.setOffline(false);

  const again = await lab.open(next, { context });
  expect((await again.event('ready')).versionId).toBe(next._id);
  await seeStep(again, 's2');
  await seeChosen(again, 'b');
  expect(await lab.progressOf(version)).toMatchObject({
    score: 2,
    items: [{ widgetId: 'q2', answer: ['b'] }],
  });
  await press(again, 'Next');
  await choose(again, 'b');
  await lab.seeSaved(version, { q3: ['b'] });
  expect(await lab.progressOf(version)).toMatchObject({ score: 1, maxScore: 3 });
});

test('an open page whose learner is erased says so, and the browser keeps no answer', async () => {
  const { version, context, learner } = await lab.start();
  await context.setOffline(true);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await seeKept(learner, 'q2');
  const { db } = lab.api;
  const { organizationId } = version;
  await requestErasure(
    { db, pepper: testPepper },
    { source: 'embed', organizationId, learnerId: 'learner-1' },
  );
  await context.setOffline(false);
  await learner.outer.getByRole('heading', { name: 'Your data has been deleted' }).waitFor();
  await waitFor('the code', async () => (await learner.errorCodes()).includes('learner_erased'));
  expect(await storageOf(learner)).not.toContain('q2');
});
