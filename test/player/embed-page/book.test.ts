import { beforeAll, expect, test } from 'vitest';
import { bookSections, bookStepTitle } from '../../../bench/books/book.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { markVersionsUnpublished } from '../../../shared/models/lesson-version.ts';
import { buildLearnerToken } from '../../support/factories.ts';
import { publishLesson } from '../player-lessons.ts';
import { press, useEmbedLab, finishAnyway } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';

const lab = useEmbedLab();
const steps = 200;

let readers = 0;
let book: LessonVersion;
beforeAll(async () => {
  book = await publishLesson(lab.api, lab.api.organization, {
    sections: bookSections({ steps, words: 300 }),
  });
});

/** Opens the book, and collects the ids of the chunks that it requests. */
async function openBook() {
  const context = await lab.browser.newContext({ viewport: { width: 1400, height: 900 } });
  const requested: string[] = [];
  context.on('request', (request) => {
    const [, id] = /\/chunks\/([\w-]+)$/.exec(request.url()) ?? [];
    if (id !== undefined) requested.push(id);
  });
  const learnerId = `reader ${(readers += 1)}`;
  const learner = await lab.open(book, { context, token: buildLearnerToken(book, { learnerId }) });
  await seeContent(learner, 0);
  return { context, learner, learnerId, requested };
}

/** Waits until a step and its blocks are shown. */
async function seeContent({ lesson }: Pick<HostPage, 'lesson'>, index: number): Promise<void> {
  await lesson.getByRole('heading', { name: bookStepTitle(index), exact: true }).waitFor();
  await lesson.locator('.lectern-step-body p').first().waitFor();
}

async function search({ lesson }: HostPage, text: string): Promise<void> {
  await lesson.getByRole('searchbox', { name: 'Search the steps' }).fill(text);
}

const outlineStep = ({ lesson }: HostPage, index: number) =>
  lesson.getByRole('navigation', { name: 'Contents' }).getByRole('button', { name: bookStepTitle(index) });

test('any step is one request away, those around it load ahead, none is requested twice, and answers count towards the points of the whole book', async () => {
  const { learner, learnerId, requested } = await openBook();
  await press(learner, 'Next');
  await learner.lesson.getByRole('radio').nth(1).check();
  await press(learner, 'Check answer');
  await lab.seeRecord(book, { score: 1, maxScore: steps / 5 }, learnerId);
  const before = requested.length;
  await search(learner, bookStepTitle(150));
  await outlineStep(learner, 150).click();
  await seeContent(learner, 150);
  // The first chunk is in the page. The step's own, and the one after it, may follow.
  expect(requested.length - before).toBeLessThanOrEqual(2);
  for (let index = 151; index < 159; index += 1) {
    await press(learner, 'Next');
    await seeContent(learner, index);
  }
  expect(new Set(requested).size).toBe(requested.length);
  await lab.seeRecord(book, { currentSectionIndex: 19, currentStepIndex: 6 }, learnerId);
  await search(learner, bookStepTitle(steps - 1));
  await outlineStep(learner, steps - 1).click();
  await finishAnyway(learner);
  await learner.lesson
    .getByText(`1 of ${steps / 5}`)
    .first()
    .waitFor();
});

test('without a network the page says so, and shows the step once the network is back; a response from elsewhere is neither shown nor kept', async () => {
  const { context, learner } = await openBook();
  await context.setOffline(true);
  await search(learner, bookStepTitle(100));
  await outlineStep(learner, 100).click();
  await learner.lesson.getByText('This step hasn’t loaded yet. Check your connection.').waitFor();
  expect(await learner.errorCodes()).toContain('step_not_loaded');
  // The learner is not stuck: the steps that are loaded can be read.
  await search(learner, bookStepTitle(1));
  await outlineStep(learner, 1).first().click();
  await seeContent(learner, 1);
  await search(learner, bookStepTitle(100));
  await outlineStep(learner, 100).click();
  await learner.lesson.getByRole('button', { name: 'Try again' }).waitFor();
  // Retries do not repeat the announcement, but the learner's own press gets a response.
  const player = learner.page.frames().at(-1);
  await player?.evaluate(`
    const status = document.querySelector('.lectern-loading');
    window.said = [];
    new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true });
  `);
  const said = () => player?.evaluate<string[]>('said');
  for (let retries = 0; retries < 2; retries += 1) {
    await context.waitForEvent('requestfailed', (request) => request.url().includes('/chunks/'));
  }
  expect(await said()).toEqual([]);
  await press(learner, 'Try again');
  await expect.poll(said).toEqual([expect.stringMatching(/^Loading/), expect.stringMatching(/^This step/)]);
  await context.setOffline(false);
  await seeContent(learner, 100);

  const portal = { status: 200, contentType: 'application/json', body: '[]' };
  await context.route(/\/chunks\//, (route) => route.fulfill(portal));
  await search(learner, bookStepTitle(120));
  await outlineStep(learner, 120).click();
  await learner.lesson.getByRole('button', { name: 'Try again' }).waitFor();
  await context.unroute(/\/chunks\//);
  await seeContent(learner, 120);
});

test('a book that was unpublished says that the step is no longer available', async () => {
  const { learner } = await openBook();
  await markVersionsUnpublished(lab.api.db, { lessonId: book.lessonId, versionId: book._id });
  await search(learner, bookStepTitle(180));
  await outlineStep(learner, 180).click();
  await learner.lesson.getByText('This step is no longer available. Reload the page.').waitFor();
});
