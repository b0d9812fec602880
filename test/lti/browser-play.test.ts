import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import arabic from '../../locales/ar.json' with { type: 'json' };
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import {
  choose,
  hostPage,
  press,
  publishQuiz,
  seeChosen,
  seeStep,
  useEmbedLab,
  finishAnyway,
} from '../player/embed-page/embed-lab.ts';
import type { HostPage } from '../player/embed-page/embed-lab.ts';
import { faultsIn } from '../support/axe.ts';
import { buildLaunchToken } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { testPepper } from '../support/harness.ts';

const lab = useEmbedLab();

/** Opens the platform's pages, which record the messages from their frames. */
async function newPlatform(options: Parameters<typeof lab.browser.newContext>[0] = {}) {
  const context = await lab.browser.newContext(options);
  await context.addInitScript(
    'globalThis.told = []; addEventListener("message", ({ data }) => { if (data?.subject) told.push(data); })',
  );
  return context;
}

function launch(
  lesson: LessonVersion,
  claims: Parameters<typeof buildLaunchToken>[1] = {},
  context?: BrowserContext,
): Promise<HostPage> {
  return lab.open(lesson, { token: buildLaunchToken(lesson, claims), ...(context && { context }) });
}

async function finish(learner: HostPage): Promise<void> {
  await seeStep(learner, 's1');
  await press(learner, 'Next');
  await choose(learner, 'b');
  await press(learner, 'Next');
  await seeStep(learner, 's3');
  await finishAnyway(learner);
}

const back = ({ lesson }: HostPage) => lesson.getByRole('button', { name: 'Back to the course' });
const backFromNotice = ({ outer }: HostPage) => outer.getByRole('link', { name: 'Back to the course' });

/** Checks Lectern's page and the player; the platform owns its own pages. */
async function faultsOf(page: Page): Promise<string[]> {
  const [, outer, inner] = page.frames();
  if (outer === undefined || inner === undefined) throw new Error('there is no lesson');
  const faults = (await faultsIn(outer)).filter((fault) => !/^(landmark-one-main|page-has-head)/.test(fault));
  return [...faults, ...(await faultsIn(inner))];
}

test('an untracked launch plays to the end and stores nothing', async () => {
  const lesson = await publishQuiz(lab);
  const claims = { untracked: 'anonymous', ltiUserId: '' } as const;
  const context = await lab.browser.newContext();
  const posted: string[] = [];
  context.on('request', (request) => {
    if (request.method() === 'POST') posted.push(request.url());
  });
  const viewer = await launch(lesson, claims, context);
  await finish(viewer);
  expect(await viewer.outer.getByRole('complementary').textContent()).toBe(
    'Your course doesn’t tell us who you are, so we don’t record your answers.',
  );
  await viewer.event('complete');
  await viewer.lesson.getByText('Score: 2 of 3').waitFor();
  await press(viewer, 'Back to the lesson');
  await press(viewer, 'Back');
  await seeChosen(viewer, 'b');

  const outer = viewer.page.frames().find((frame) => frame.url().includes('/embed/'));
  expect(await outer?.evaluate('JSON.stringify(localStorage)')).toBe('{}');
  expect(posted).toEqual([]);
  const again = await launch(lesson, claims, context);
  await seeStep(again, 's1');
  // Two anonymous tabs have no session to hand over.
  await press(viewer, 'Next');
  await seeStep(viewer, 's3');
  // Only teachers may present.
  expect(await viewer.lesson.getByRole('button', { name: 'Present' }).count()).toBe(0);
  const { ltiProgress, courses } = lab.api.db;
  expect(await ltiProgress.countDocuments({ lessonId: lesson.lessonId })).toBe(0);
  expect(await courses.countDocuments()).toBe(0);
  await context.close();
});

/** The frame sandbox of a platform that keeps its page from being replaced. */
const sandbox =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads';

describe('the way back to the course', () => {
  const courseUrl = () => `${lab.hostOrigin}/course`;

  test('is at the end of the lesson, where the learner resumes; it leaves the frame, or opens beside the course where the platform prevents that', async () => {
    const lesson = await publishQuiz(lab);
    const context = await newPlatform();
    const user = { ltiUserId: 'returning', returnUrl: courseUrl() };
    const learner = await launch(lesson, user, context);
    await seeStep(learner, 's1');
    expect(await back(learner).isVisible()).toBe(false);
    await finish(learner);
    await back(learner).waitFor();
    expect(await learner.event('complete')).toMatchObject({ score: 66.6667, maxScore: 100 });

    const again = await launch(lesson, user, context);
    expect(await again.event('ready')).toMatchObject({ status: 'completed' });
    await press(again, 'Back to the lesson');
    await press(again, 'Back');
    await seeChosen(again, 'b');
    await press(again, 'Next');
    await press(again, 'Finish');
    await back(again).click();
    await again.page.waitForURL(courseUrl());

    const page = await context.newPage();
    await page.goto(lab.hostOrigin);
    await page.setContent(
      `<div id="course"><iframe src="${lab.api.url}/embed/${lesson.lessonId}?token=${buildLaunchToken(lesson, user)}" sandbox="${sandbox}">`,
    );
    const opened = context.waitForEvent('page');
    await back(hostPage(page)).click();
    expect((await opened).url()).toBe(courseUrl());
    expect(page.url()).toBe(`${lab.hostOrigin}/`);
    await context.close();
  });

  test('appears next to the message that the lesson is gone or the launch has expired', async () => {
    const lesson = await publishQuiz(lab);
    const returnUrl = courseUrl();
    const { organizationId, lessonId } = lesson;
    const ended = await launch(lesson, { ltiUserId: 'late', returnUrl });
    await seeStep(ended, 's1');
    await revokeTokens(lab.api.db, testPepper, { organizationId, lessonId, learnerId: 'late' }, new Date());
    await press(ended, 'Next');
    await backFromNotice(ended).waitFor();
    const words = 'Your session has ended. Open the lesson again from your course. Your answers are safe';
    await ended.outer.getByText(words).waitFor();

    const learner = await launch(lesson, { ltiUserId: 'too late', returnUrl });
    await seeStep(learner, 's1');
    await deleteLesson(lab.api.db, lessonId);
    await press(learner, 'Next');
    await learner.outer.getByText('This lesson is no longer available.').waitFor();
    await backFromNotice(learner).click();
    await learner.page.waitForURL(courseUrl());
    await ended.page.close();
  });
});

test('the platform gets the height of the lesson at each step; an integrator’s page does not', async () => {
  const lesson = await publishQuiz(lab);
  const context = await newPlatform();
  const learner = await launch(lesson, { ltiUserId: 'sized' }, context);
  await seeStep(learner, 's1');
  const heights = () => learner.page.evaluate<{ subject: string; height: number }[]>('told');
  await waitFor('a height', async () => (await heights()).length > 0);
  const before = (await heights()).length;
  await press(learner, 'Next');
  await seeStep(learner, 's2');
  await waitFor('another height', async () => (await heights()).length > before);
  const last = (await heights()).at(-1);
  expect(last).toEqual({ subject: 'lti.frameResize', height: expect.any(Number) as number });
  expect(last).toMatchObject({ height: (await learner.event('resize')).height });

  const embedded = await lab.open(lesson, { context });
  await embedded.event('resize');
  expect(await embedded.page.evaluate('told')).toEqual([]);
  await context.close();
});

test('axe-core finds no violation in a dark launch page with Arabic text around the lesson', async () => {
  const lesson = await publishQuiz(lab);
  const context = await newPlatform({ colorScheme: 'dark', viewport: { width: 400, height: 700 } });
  const claims = { untracked: 'preview', locale: 'ar-EG', returnUrl: `${lab.hostOrigin}/course` } as const;
  const viewer = await launch(lesson, claims, context);
  await finish(viewer);
  await back(viewer).waitFor();
  const notice = viewer.outer.getByRole('complementary');
  expect(await notice.textContent()).toContain(arabic['notice.preview']);
  expect(await faultsOf(viewer.page)).toEqual([]);
  await context.close();
});
