import type { BrowserContext, FrameLocator, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { LineItem, Link, User } from '../../simulator/model.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { heading, publishLesson, question, section, step } from '../player/player-lessons.ts';
import { launchBrowser } from '../support/browser.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useLaunchLab } from './support/launch-lab.ts';

/* A course from its first lesson to its grades: the platform on localhost shows Lectern, on 127.0.0.1, in frames. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });
const lab = useLaunchLab({ hostname: 'localhost' });
const browser = useStarted(
  () => launchBrowser({ thirdPartyCookies: false }),
  (started) => started.close(),
);
let lessonId: string;
beforeAll(async () => {
  const { harness, organization, simulator } = lab;
  await harness.startWorker({ LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(simulator.issuer).host });
  const sections = [
    section('one', step('s1', heading()), { ...step('s2', question('q2', 3)), order_index: 1 }),
    { ...section('two', step('s3', question('q3', 1))), order_index: 1 },
  ];
  ({ lessonId } = await publishLesson(harness, organization, {
    lesson: { title: 'How Tides Work' },
    sections,
  }));
});

/** One user's browser. */
async function openContext(): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 900 } });
  onTestFinished(() => context.close());
  return context;
}

/** Opens the platform's courses as a user, without platform storage, so that cookies have to work. */
async function openCourses(context: BrowserContext, user: User): Promise<Page> {
  const page = await context.newPage();
  await page.goto(lab.simulator.urls.url);
  await page.getByLabel('User').selectOption(user.id);
  await page.getByLabel('Offer platform storage').uncheck();
  return page;
}

/** Opens a link in a frame of the platform's page; returns the player inside. */
async function openLink(page: Page, { id }: Link): Promise<FrameLocator> {
  await page.locator(`button[name="frame"][value="${id}"]`).click();
  const lesson = page.frameLocator('iframe.tool').frameLocator('iframe');
  await lesson.getByRole('heading', { name: 'Title of s1' }).waitFor();
  return lesson;
}

async function finish(lesson: FrameLocator, choices: string[]): Promise<void> {
  const press = (name: string) => lesson.getByRole('button', { name, exact: true }).click();
  for (const choice of choices) {
    await press('Next');
    await lesson.getByRole('radio', { name: choice, exact: true }).check();
    await press('Check answer');
  }
  await press('Finish');
  // The course gets a grade, so the player shows it first.
  await lesson
    .getByRole('dialog')
    .getByText(/Your course gets this result: \d+%\./)
    .waitFor();
  await lesson.getByRole('dialog').getByRole('button', { name: 'Finish' }).click();
  await lesson.getByRole('heading', { name: 'Lesson complete' }).waitFor();
}

/** A teacher finds the lesson and adds it to the course; returns the link and its column in the gradebook. */
async function addLesson(): Promise<{ link: Link; column: LineItem; page: Page }> {
  const { simulator, tool } = lab;
  const { course, users } = simulator.sample;
  const page = await openCourses(await openContext(), users.teacher);
  await page.locator(`button[name="choose"][value="${course.id} ${tool.clientId}"]`).click();
  const choice = page.frameLocator('iframe.tool');
  await choice.getByRole('searchbox').fill('tides');
  await choice.getByRole('button', { name: 'Search' }).click();
  await choice.getByRole('checkbox', { name: /How Tides Work/ }).check();
  await choice.getByRole('button', { name: 'Add to the course' }).click();
  await choice.getByRole('heading', { name: 'Added to the course' }).waitFor();
  const link = simulator.linksOf(course).at(-1);
  const [column] = link ? simulator.lineItemsOf(link) : [];
  if (link === undefined || column === undefined) throw new Error('nothing was added');
  return { link, column, page };
}

/** A learner plays to the end and waits for the link back to the course. */
async function study(user: User, link: Link, choices: string[]): Promise<void> {
  const page = await openCourses(await openContext(), user);
  const lesson = await openLink(page, link);
  await finish(lesson, choices);
  await lesson.getByRole('button', { name: 'Back to the course' }).waitFor();
  await waitFor('the saved completion', async () => (await recordOf(user)).status === 'completed');
}

async function recordOf({ id }: User): Promise<Record<string, unknown>> {
  const query = new URLSearchParams({ platformId: lab.platform._id }).toString();
  const path = `/api/public/lessons/${lessonId}/lti-progress/${id}?${query}`;
  return jsonOf(await ask(lab.address + path, { headers: lab.headers })) as Record<string, unknown>;
}

test('a teacher adds a lesson, a learner finishes it, and integrators and the gradebook get the result', async () => {
  const { simulator } = lab;
  const { course, users } = simulator.sample;
  const { link, column, page } = await addLesson();
  await study(users.learner, link, ['a', 'b']);
  expect(await recordOf(users.learner)).toMatchObject({ contextId: course.id, score: 25, maxScore: 100 });

  const isGraded = () =>
    simulator.currentScores(column).get(users.learner.id)?.gradingProgress === 'FullyGraded';
  await waitFor('the grade', isGraded);
  await page.goto(`${simulator.urls.url}/grades`);
  const grades = page.getByRole('row', { name: users.learner.name }).getByRole('cell');
  expect(await grades.first().textContent()).toBe('25');
});
