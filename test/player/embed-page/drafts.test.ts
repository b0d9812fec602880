import { expect, test } from 'vitest';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answersIn, choose, press, seeKept, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';
import { publishWidget } from './lessons.ts';

const lab = useEmbedLab();

/** A step with a question and a text field, and a second step. */
function publishEssay(): Promise<LessonVersion> {
  const essay = { type: 'OpenResponse', props: { id: 'essay', prompt: 'Why do tides exist?' } };
  const steps = [step('s1', question('q1'), essay), { ...step('s2', heading()), order_index: 1 }];
  return publishLesson(lab.harness, lab.organization, { sections: [section('one', ...steps)] });
}

const fieldOf = ({ lesson }: Pick<HostPage, 'lesson'>) => lesson.getByRole('textbox');
const continueHere = ({ outer }: HostPage) => outer.getByRole('button', { name: 'Continue here' }).click();
const essayOf = async (version: LessonVersion) => answersIn(await lab.progressOf(version)).essay;

async function seeText(page: HostPage, text: string): Promise<void> {
  await waitFor(`the text "${text}"`, async () => (await fieldOf(page).inputValue()) === text);
}

test('unsubmitted text moves to the tab that takes over, and back', async () => {
  const version = await publishEssay();
  const context = await lab.browser.newContext();
  const first = await lab.open(version, { context });
  await seeStep(first, 's1');
  await fieldOf(first).fill('The moon');

  const second = await lab.open(version, { context });
  await seeText(second, 'The moon');
  await fieldOf(second).fill('The moon pulls');
  await continueHere(first);
  await seeText(first, 'The moon pulls');
  await waitFor('the saved text', async () => (await essayOf(version)) === 'The moon pulls');
});

test('unsubmitted text survives in the browser when the tab that took over is gone', async () => {
  const version = await publishEssay();
  const context = await lab.browser.newContext();
  const first = await lab.open(version, { context });
  await seeStep(first, 's1');
  // A tab that announces a takeover and closes before it receives anything.
  await context.addInitScript(`BroadcastChannel.prototype.addEventListener = () => undefined;`);
  await fieldOf(first).fill('The moon');
  const second = await lab.open(version, { context });
  await first.outer.getByText('This lesson is open in another tab.').waitFor();
  await second.page.close();
  await continueHere(first);
  await seeText(first, 'The moon');
});

test('unsubmitted text survives a conflict with another device, and is saved', async () => {
  const version = await publishEssay();
  const phone = await lab.open(version);
  await seeStep(phone, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await fieldOf(phone).fill('The moon');
  const laptop = await lab.open(version);
  await press(laptop, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);

  await choose(phone, 'b');
  await continueHere(phone);
  await seeText(phone, 'The moon');
  await waitFor('the saved text', async () => (await essayOf(version)) === 'The moon');
  await fieldOf(phone).fill('The moon pulls');
  await press(phone, 'Next');
  await waitFor('the later text', async () => (await essayOf(version)) === 'The moon pulls');
});

test("a busy frame's late answer after a conflict is shown and saved", async () => {
  const source = `export default { type: 'Slow', mount(host, { state, context }) {
    host.append('Answer: ' + (state ?? 'none'));
    return { destroy() { if (state === undefined) context.answer('held back'); } };
  } }`;
  const version = await publishWidget(lab, 'Slow', source);
  const context = await lab.browser.newContext();
  // Frames may share a process with the page, so the test shortens the page's timeout instead of
  // keeping the frame busy.
  await context.addInitScript(`const { setTimeout: wait } = window;
    window.setTimeout = (call, ms) => (ms === 2000 ? (queueMicrotask(call), 0) : wait(call, ms));`);
  const phone = await lab.open(version, { context });
  await phone.lesson.getByText('Answer: none').waitFor();
  await waitFor('the first view', () => lab.progressOf(version));
  const laptop = await lab.open(version);
  await choose(laptop, 'a');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q1);

  await choose(phone, 'b');
  await phone.lesson.getByText('Answer: held back').waitFor();
  await continueHere(phone);
  await waitFor(
    'the late answer',
    async () => answersIn(await lab.progressOf(version)).custom === 'held back',
  );
  await context.close();
});

test('a later answer on another device wins over unsubmitted text', async () => {
  const version = await publishEssay();
  const phone = await lab.open(version);
  await seeStep(phone, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await fieldOf(phone).fill('An early note');
  const laptop = await lab.open(version);
  await seeStep(laptop, 's1');
  await fieldOf(laptop).fill('The whole answer');
  await press(laptop, 'Submit');
  await waitFor('the answer', () => essayOf(version));

  await choose(phone, 'b');
  await continueHere(phone);
  await seeText(phone, 'The whole answer');
  await press(phone, 'Next');
  await waitFor('the question', async () => answersIn(await lab.progressOf(version)).q1);
  expect(await essayOf(version)).toBe('The whole answer');
});

test('text left unsubmitted in a closed page is saved, also offline', async () => {
  const version = await publishEssay();
  const context = await lab.browser.newContext();
  const first = await lab.open(version, { context });
  await seeStep(first, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await fieldOf(first).fill('The moon');
  await seeKept(first, 'The moon');
  await first.page.close();
  await waitFor('the saved text', async () => (await essayOf(version)) === 'The moon');

  const second = await lab.open(version, { context });
  await seeText(second, 'The moon');
  await context.setOffline(true);
  await fieldOf(second).fill('The moon pulls');
  await seeKept(second, 'The moon pulls');
  await second.page.close();
  await context.setOffline(false);
  const third = await lab.open(version, { context });
  await seeText(third, 'The moon pulls');
  await waitFor('the later text', async () => (await essayOf(version)) === 'The moon pulls');
  // Submitted or deleted text is no longer a draft.
  await fieldOf(third).fill('A slip');
  await seeKept(third, 'A slip');
  await fieldOf(third).fill('The moon pulls');
  await waitFor('no draft', async () => !(await keptBy(third)).includes('A slip'));
});

const keptBy = async ({ page }: HostPage) =>
  (await page
    .frames()
    .find((frame) => frame.url().includes('/embed/'))
    ?.evaluate<string>('JSON.stringify(localStorage)')) ?? '';
