import type { BrowserContext, FrameLocator, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { LineItem, Link, User } from '../../simulator/model.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { heading, publishLesson, question, section, step } from '../player/player-lessons.ts';
import { launchBrowser } from '../support/browser.ts';
import { buildOrganization } from '../support/factories.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useLaunchLab } from './support/launch-lab.ts';

/*
 * A course from its first lesson to its grades: the platform on localhost shows Lectern, on
 * 127.0.0.1, in frames.
 */

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

/**
 * Opens the platform's courses as a user, without platform storage, so that cookies have to work.
 */
async function openCourses(context: BrowserContext, user: User): Promise<Page> {
  const page = await context.newPage();
  await page.goto(lab.simulator.urls.url);
  await page.getByLabel('User').selectOption(user.id);
  await page.getByLabel('Offer platform storage').uncheck();
  return page;
}

/** Opens a link in a frame of the platform's page; returns Lectern's page and the player inside. */
async function openLink(page: Page, { id }: Link): Promise<{ outer: FrameLocator; lesson: FrameLocator }> {
  await page.locator(`button[name="frame"][value="${id}"]`).click();
  const outer = page.frameLocator('iframe.tool');
  const lesson = outer.frameLocator('iframe');
  await lesson.getByRole('heading', { name: 'Title of s1' }).waitFor();
  return { outer, lesson };
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

/**
 * A teacher finds the lesson and adds it to the course; returns the link and its column in the
 * gradebook.
 */
async function addLesson(): Promise<{ link: Link; column: LineItem }> {
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
  return { link, column };
}

/** A learner plays to the end and waits for the link back to the course. */
async function study(user: User, link: Link, choices: string[]): Promise<void> {
  const page = await openCourses(await openContext(), user);
  const { lesson } = await openLink(page, link);
  await finish(lesson, choices);
  await lesson.getByRole('button', { name: 'Back to the course' }).waitFor();
  await waitFor('the saved completion', async () => (await recordOf(user))?.status === 'completed');
}

/** Returns what GET progress gives an integrator; null for 404. */
async function recordOf(
  { id }: User,
  {
    credentials = lab.headers,
    ...query
  }: { platformId?: string; contextId?: string; credentials?: typeof lab.headers } = {},
): Promise<Record<string, unknown> | null> {
  const names = new URLSearchParams({ platformId: lab.platform._id, ...query }).toString();
  const path = `/api/public/lessons/${lessonId}/lti-progress/${id}?${names}`;
  const answer = await ask(lab.address + path, { headers: credentials });
  return answer.status === 404 ? null : (jsonOf(answer) as Record<string, unknown>);
}

test('a teacher adds a lesson, learners finish it, and integrators and the gradebook get their results', async () => {
  const { simulator, platform, address } = lab;
  const { course, users } = simulator.sample;
  const { link, column } = await addLesson();
  await study(users.learner, link, ['b', 'b']);
  await study(users.secondLearner, link, ['a', 'b']);

  const preview = await openCourses(await openContext(), users.teacher);
  const { outer } = await openLink(preview, link);
  await outer.getByText('Teacher preview: we don’t record your answers.').waitFor();

  const ofPlatform = { platformId: platform._id, contextId: course.id, maxScore: 100 };
  const first = { ...ofPlatform, ltiUserId: users.learner.id, status: 'completed', score: 100 };
  expect(await recordOf(users.learner)).toMatchObject(first);
  expect(await recordOf(users.learner, { contextId: course.id })).toMatchObject(first);
  expect(await recordOf(users.secondLearner)).toMatchObject({ ...ofPlatform, score: 25 });
  expect(await recordOf(users.teacher)).toBeNull();
  const { _id: otherPlatform } = (await lab.register(address)).platform;
  const { headers: credentials } = await buildOrganization(lab.harness);
  for (const other of [{ contextId: 'other' }, { platformId: otherPlatform }, { credentials }]) {
    expect(await recordOf(users.learner, other)).toBeNull();
  }

  const isGraded = ({ id }: User) =>
    simulator.currentScores(column).get(id)?.gradingProgress === 'FullyGraded';
  await waitFor('the grades', () => isGraded(users.learner) && isGraded(users.secondLearner));
  await preview.goto(`${simulator.urls.url}/grades`);
  const grades = (user: User) => preview.getByRole('row', { name: user.name }).getByRole('cell');
  expect(await grades(users.learner).first().textContent()).toBe('100');
  expect(await grades(users.secondLearner).first().textContent()).toBe('25');
  expect(await grades(users.teacher).count()).toBe(0);
});
