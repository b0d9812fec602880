import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { useBrowser } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useExportLab } from '../exports/lab.ts';
import { filesOf } from '../exports/exports.ts';
import { buildVersion } from '../support/factories.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { answerStep, goOn, heading, playToEnd, reachableFrom, stateOn } from './learner.ts';
import type { Place } from './learner.ts';
import { buildQuiz, questions, sections } from './lessons.ts';
import { startPlatform } from './platform.ts';
import type { LaunchOptions, Platform, ScormVersion } from './platform.ts';
import { faultsOf } from './strict-values.ts';

/* Packages in scorm-again, in Chromium. */

const lab = useExportLab({}, { worker: true });
const browser = useBrowser();
let version: LessonVersion;

beforeAll(async () => {
  version = await buildVersion(lab.harness, lab.organization, (await buildQuiz()).path);
});

const packageFiles = async (format: string, options = '') =>
  filesOf((await lab.get(version, { query: `?format=${format}${options}` })).body);

/** The elements of a result, in this order. */
const statusElements = {
  '1.2': ['cmi.core.lesson_status', 'cmi.core.score.raw'],
  '2004': ['cmi.completion_status', 'cmi.success_status', 'cmi.score.raw'],
};

interface Setup {
  platform: Platform;
  context: BrowserContext;
}

async function start(scorm: ScormVersion, files: ReadonlyMap<string, Buffer>): Promise<Setup> {
  const platform = await startPlatform(scorm, files);
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return { platform, context };
}

async function launch({ platform, context }: Setup, options: LaunchOptions = {}) {
  const page = await context.newPage();
  await page.goto(platform.launchUrl('ann', options));
  const lesson = page.frameLocator('iframe');
  await heading(lesson).waitFor();
  return { page, lesson };
}

const callsOf = (platform: Platform, name: string) =>
  platform.record('ann').calls.filter((call) => call === name).length;

/** Closes the tab as learners do, and waits for the end of the session. */
async function closeTab(platform: Platform, page: Page): Promise<void> {
  const before = callsOf(platform, 'Terminate');
  await page.close();
  await waitFor('the end of the session', () => callsOf(platform, 'Terminate') > before);
}

/** Returns the last value of each element of the result; undefined for one that was not set. */
const resultIn = (scorm: ScormVersion, platform: Platform) =>
  statusElements[scorm].map(
    (name) => platform.record('ann').values.findLast(({ element }) => element === name)?.value,
  );

describe.each<[string, ScormVersion]>([
  ['scorm12', '1.2'],
  ['scorm2004', '2004'],
])('%s', (format, scorm) => {
  const startQuiz = async (options = '') => start(scorm, await packageFiles(format, options));

  test('each session begins where the last one ended, by a closed tab or by Exit, until the lesson is complete', async () => {
    const setup = await startQuiz();
    const { platform } = setup;
    const first = await launch(setup);
    await goOn(first.lesson);
    await answerStep(first.lesson);
    expect(await first.page.frames().at(-1)?.title()).toMatch(
      `${await heading(first.lesson).textContent()} – `,
    );
    const left = await stateOn(first.lesson);
    await closeTab(platform, first.page);

    const second = await launch(setup);
    expect(await stateOn(second.lesson)).toEqual(left);
    for (let step = 0; step < 2; step += 1) await goOn(second.lesson);
    await second.lesson.getByRole('textbox').fill('Not submitted');
    await second.lesson.getByRole('button', { name: 'Save and exit' }).click();
    await second.lesson.getByText('Your session has ended').waitFor();
    await second.page.close();

    const third = await launch(setup);
    expect(callsOf(platform, 'Terminate')).toBe(2);
    expect(await third.lesson.getByRole('textbox').inputValue()).toBe('Not submitted');
    await goOn(third.lesson);
    await closeTab(platform, third.page);
    const result = scorm === '1.2' ? ['completed', '40'] : ['completed', 'unknown', '40'];
    expect(resultIn(scorm, platform)).toEqual(result);

    const fourth = await launch(setup);
    expect(await fourth.lesson.getByRole('button', { name: /^(Next|Finish)$/ }).count()).toBe(0);
    await closeTab(platform, fourth.page);
    expect(resultIn(scorm, platform)).toEqual(result);
    expect(faultsOf(scorm, platform.record('ann').values)).toEqual([]);
  });

  test('a platform without modes gets each answer in the encoding of its version, and a failed status below the pass mark', async () => {
    const setup = await startQuiz('&passMark=80&completion=passed');
    const { page, lesson } = await launch(setup, { mode: '' });
    await playToEnd(lesson);
    await closeTab(setup.platform, page);
    const { cmi, values } = setup.platform.record('ann');
    const response = scorm === '1.2' ? 'student_response' : 'learner_response';
    const pattern = (value: string) => ({ 0: { pattern: value } });
    const interactions = Object.values(cmi.interactions as Record<string, Record<string, unknown>>);
    expect(interactions).toMatchObject([
      { type: 'choice', [response]: 'a', result: 'correct', weighting: '2', correct_responses: pattern('a') },
      {
        ...{ type: 'choice', [response]: 'a', result: '0.5', weighting: '3' },
        correct_responses: pattern(scorm === '1.2' ? 'a,c' : 'a[,]c'),
      },
      { type: scorm === '1.2' ? 'fill-in' : 'long-fill-in', result: 'neutral' },
    ]);
    if (scorm === '2004') {
      expect(interactions.map(({ description }) => description)).toEqual([
        'Which one & why?',
        ' {lang=xx}Which ones?',
        'Explain.',
      ]);
    }
    expect(resultIn(scorm, setup.platform)).toEqual(
      scorm === '1.2' ? ['failed', '70'] : ['incomplete', 'failed', '70'],
    );
    expect(faultsOf(scorm, values)).toEqual([]);
    // Before anything else: a platform drops the state of a session that is cut off without it.
    expect(values[0]).toMatchObject({ element: scorm === '1.2' ? 'cmi.core.exit' : 'cmi.exit' });
    // A platform would treat a score of 0 as a result. The first step has no question.
    const secondStep = values.findIndex(
      ({ element, value }) => element.endsWith('location') && value === '1',
    );
    expect(secondStep).toBeGreaterThan(0);
    expect(values.findIndex(({ element }) => /^cmi\.(core\.)?score/.test(element))).toBeGreaterThan(
      secondStep,
    );
  });

  // One of the two platforms gives numbers, String objects and True in place of texts.
  test('the pass mark of the platform replaces the one of the package, and a score equal to it passes', async () => {
    const setup = await startQuiz('&passMark=80&completion=finish');
    const given: Record<string, string> =
      scorm === '1.2' ? { 'cmi.student_data.mastery_score': '70' } : { 'cmi.scaled_passing_score': '0.7' };
    const { page, lesson } = await launch(setup, { given, isLoose: scorm === '2004' });
    await playToEnd(lesson);
    await closeTab(setup.platform, page);
    expect(resultIn(scorm, setup.platform)).toEqual(
      scorm === '1.2' ? ['passed', '70'] : ['completed', 'passed', '70'],
    );
    const { values } = setup.platform.record('ann');
    expect(values.filter(({ isAccepted }) => !isAccepted)).toEqual([]);
    expect(values.some(({ element }) => element.startsWith('cmi.interactions.1.'))).toBe(true);
  });

  const mode = scorm === '1.2' ? 'browse' : 'review';
  test(`in mode ${mode}, nothing is written`, async () => {
    const setup = await startQuiz();
    const { page, lesson } = await launch(setup, { mode });
    await goOn(lesson);
    await answerStep(lesson);
    await lesson.getByText('don’t record').waitFor();
    await lesson.getByRole('button', { name: 'Exit', exact: true }).waitFor();
    await closeTab(setup.platform, page);
    const { values, calls } = setup.platform.record('ann');
    expect({ values, calls }).toEqual({ values: [], calls: ['Initialize', 'Terminate'] });
  });

  test('every limit keeps whole characters, also in texts that XML cannot carry', async () => {
    // The limit is inside a character.
    const long = `${scorm === '1.2' ? '' : 'x'}${'🌊'.repeat(2_100)}`;
    const block = { type: 'OpenResponse', props: { id: 'open', prompt: `\ud800${long}` } };
    const steps = sections[0]?.steps.map((step) => ({ ...step, content: { root: {}, content: [block] } }));
    const built = await buildQuiz({ sections: [{ ...sections[0], title: '🌊'.repeat(150), steps }] });
    const lesson = await buildVersion(lab.harness, lab.organization, built.path);
    const files = await filesOf((await lab.get(lesson, { query: `?format=${format}` })).body);
    const setup = await start(scorm, files);
    const opened = await launch(setup);
    await answerStep(opened.lesson, `\u000b${long}`);
    await closeTab(setup.platform, opened.page);
    const { values } = setup.platform.record('ann');
    expect(faultsOf(scorm, values)).toEqual([]);
    const response = values.find(({ element }) => /(student|learner)_response$/.test(element))?.value ?? '';
    expect(response).toBe(long.slice(0, scorm === '1.2' ? 254 : 3_999));
  });
});

test('for platforms that give 0 points for failed, the preset reports a missed pass mark as unknown', async () => {
  const setup = await start('2004', await packageFiles('scorm2004', '&passMark=80&preset=openedx'));
  const { page, lesson } = await launch(setup);
  await playToEnd(lesson);
  await closeTab(setup.platform, page);
  expect(resultIn('2004', setup.platform)).toEqual(['completed', 'unknown', '70']);
});

describe('on a platform that decides by the mastery score of SCORM 1.2 at each exit, a learner who leaves at step 1 of 2 with 60 %', () => {
  /** The first choice is right in the first question, which has three of five points. */
  const choosing = [
    { points: 3, correct: ['tide'] },
    { points: 2, correct: ['wave'] },
  ].map((scoring, index) => ({
    ...sections[0]?.steps[0],
    id: `5${index}000000-0000-4000-8000-000000000000`,
    title: `Step ${index}`,
    order_index: index,
    content: {
      root: { props: {} },
      content: [{ ...questions.single, props: { ...questions.single.props, id: `q${index}`, ...scoring } }],
    },
  }));
  let lesson: LessonVersion;
  beforeAll(async () => {
    const built = await buildQuiz({ sections: [{ ...sections[0], steps: choosing }] });
    lesson = await buildVersion(lab.harness, lab.organization, built.path);
  });

  test.each([
    ['&preset=moodle', 80, 'incomplete', 'failed'],
    // The manifest has the mark.
    ['', 60, 'passed', 'passed'],
  ])(
    'with %s and the pass mark %i, gets "%s", and "%s" after the last step',
    async (preset, passMark, left, finished) => {
      const query = `?format=scorm12&passMark=${passMark}${preset}`;
      const setup = await start('1.2', await filesOf((await lab.get(lesson, { query })).body));
      const core = () =>
        setup.platform.record('ann').cmi.core as { lesson_status: string; score: { raw: string } };
      const first = await launch(setup, { decidesAtExit: true });
      await answerStep(first.lesson);
      await closeTab(setup.platform, first.page);
      expect([core().lesson_status, core().score.raw]).toEqual([left, '60']);
      const second = await launch(setup, { decidesAtExit: true });
      await playToEnd(second.lesson);
      await closeTab(setup.platform, second.page);
      expect([core().lesson_status, core().score.raw]).toEqual([finished, '60']);
    },
  );
});

test('the preset of a platform whose sessions expire commits while nothing changes', async () => {
  const { platform, context } = await start('1.2', await packageFiles('scorm12', '&preset=sap'));
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(platform.launchUrl('ann'));
  await heading(page.frameLocator('iframe')).waitFor();
  const commits = () => callsOf(platform, 'Commit');
  await page.clock.runFor(2_000);
  await waitFor('the first commits', () => commits() > 0);
  const before = commits();
  await page.clock.runFor(4 * 60_000 + 1_000);
  await waitFor('another commit', () => commits() > before);
});

test.each([
  ['deep', '1.2'],
  ['popup', '2004'],
] as const)('it finds the platform from a %s, and records there', async (layout, scorm) => {
  const format = scorm === '1.2' ? 'scorm12' : 'scorm2004';
  const { platform, context } = await start(scorm, await packageFiles(format));
  const page = await context.newPage();
  await page.goto(platform.launchUrl('ann', { layout }));
  let lesson: Place = page.frameLocator('iframe').frameLocator('iframe');
  if (layout === 'popup') {
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Open' }).click();
    lesson = await opened;
  }
  await goOn(lesson);
  await waitFor('the second step', () =>
    platform.record('ann').values.some(({ element, value }) => element.endsWith('location') && value === '1'),
  );
});

test('without a platform, the lesson plays with a notice, contacts no host, and the browser keeps the progress', async () => {
  const platform = await startPlatform('1.2', await packageFiles('scorm12'));
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const url = new URL('/package/index.html', platform.launchUrl('ann')).href;
  await page.goto(url);
  await page.getByText('isn’t connected to your learning platform').waitFor();
  expect(await reachableFrom(page, ['./manifest.json', '/launch', 'http://127.0.0.1:9/'])).toEqual([
    './manifest.json',
  ]);
  await goOn(page);
  await answerStep(page);
  const left = await stateOn(page);
  await page.close();
  const again = await context.newPage();
  await again.goto(url);
  expect(await stateOn(again)).toEqual(left);
});
