import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { useBrowser } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useExportLab } from '../exports/lab.ts';
import { filesOf } from '../exports/exports.ts';
import { buildVersion } from '../support/factories.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { answerStep, goOn, heading, playToEnd, stateOn } from './learner.ts';
import { buildQuiz, sections } from './lessons.ts';
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

describe.each<[string, ScormVersion]>([
  ['scorm12', '1.2'],
  ['scorm2004', '2004'],
])('%s', (format, scorm) => {
  const statusOf = ({ cmi }: { cmi: Record<string, unknown> }) => {
    const { lesson_status: status, score = cmi.score } = (cmi.core ?? {}) as Record<string, unknown>;
    const raw = (score as { raw?: string } | undefined)?.raw;
    return scorm === '1.2' ? [status, raw] : [cmi.completion_status, cmi.success_status, raw];
  };

  async function start(options = ''): Promise<{ platform: Platform; context: BrowserContext }> {
    const platform = await startPlatform(scorm, await packageFiles(format, options));
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    return { platform, context };
  }

  async function launch(
    { platform, context }: Awaited<ReturnType<typeof start>>,
    options: LaunchOptions = {},
  ): Promise<{ page: Page; lesson: ReturnType<Page['frameLocator']> }> {
    const page = await context.newPage();
    await page.goto(platform.launchUrl('ann', options));
    const lesson = page.frameLocator('iframe');
    await heading(lesson).waitFor();
    return { page, lesson };
  }

  /** Closes the tab as learners do, and waits for the end of the session. */
  async function closeTab(platform: Platform, page: Page): Promise<void> {
    const sessions = () => platform.record('ann').calls.filter((call) => call === 'Terminate').length;
    const before = sessions();
    await page.close();
    await waitFor('the end of the session', () => sessions() > before);
  }

  test('a learner plays to the end over several sessions, and each begins where the last one ended', async () => {
    const setup = await start();
    const { platform } = setup;
    for (;;) {
      const { page, lesson } = await launch(setup);
      if ((await lesson.getByRole('button', { name: /^(Next|Finish)$/ }).count()) === 0) break;
      await answerStep(lesson);
      await goOn(lesson);
      expect(await page.frames().at(-1)?.title()).toMatch(`${await heading(lesson).textContent()} – `);
      const left = await stateOn(lesson);
      await closeTab(platform, page);
      const reported = statusOf(platform.record('ann'));
      const next = await launch(setup);
      expect(await stateOn(next.lesson)).toEqual(left);
      await closeTab(platform, next.page);
      expect(statusOf(platform.record('ann'))).toEqual(reported);
    }
    const record = platform.record('ann');
    expect(statusOf(record)).toEqual(scorm === '1.2' ? ['completed', '70'] : ['completed', 'unknown', '70']);
    expect(faultsOf(scorm, record.values)).toEqual([]);
    expect(record.calls.filter((call) => call === 'Initialize').length).toBeGreaterThan(8);
  });

  test('the platform gets each answer in its own encoding', async () => {
    const setup = await start();
    const { page, lesson } = await launch(setup);
    await playToEnd(lesson);
    await closeTab(setup.platform, page);
    const interactions = Object.values(
      setup.platform.record('ann').cmi.interactions as Record<string, Record<string, unknown>>,
    );
    const response = scorm === '1.2' ? 'student_response' : 'learner_response';
    const pattern = (value: string) => ({ 0: { pattern: value } });
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
  });

  test.each<[title: string, options: string, given: Record<string, string>, expected: string[]]>([
    ['missed', '&passMark=80', {}, scorm === '1.2' ? ['failed'] : ['completed', 'failed']],
    ['met', '&passMark=70', {}, scorm === '1.2' ? ['passed'] : ['completed', 'passed']],
    [
      'set by the platform',
      '&passMark=80',
      scorm === '1.2' ? { 'cmi.student_data.mastery_score': '60' } : { 'cmi.scaled_passing_score': '0.6' },
      scorm === '1.2' ? ['passed'] : ['completed', 'passed'],
    ],
    [
      'missed on Open edX, which takes failed for 0 points',
      '&passMark=80&preset=openedx',
      {},
      scorm === '1.2' ? ['completed'] : ['completed', 'unknown'],
    ],
    [
      'missed where only passing completes',
      '&passMark=80&completion=passed',
      {},
      scorm === '1.2' ? ['failed'] : ['incomplete', 'failed'],
    ],
  ])('a pass mark that is %s decides the result', async (_, options, given, expected) => {
    const setup = await start(options);
    const { page, lesson } = await launch(setup, { given });
    await playToEnd(lesson);
    await closeTab(setup.platform, page);
    const record = setup.platform.record('ann');
    expect(statusOf(record).slice(0, -1)).toEqual(expected);
    expect(faultsOf(scorm, record.values)).toEqual([]);
  });

  test.each(['browse', 'review'] as const)('in mode %s, nothing is written', async (mode) => {
    const setup = await start();
    const { page, lesson } = await launch(setup, { mode });
    await playToEnd(lesson);
    await lesson.getByText('don’t record').waitFor();
    await lesson.getByRole('button', { name: 'Exit', exact: true }).waitFor();
    await closeTab(setup.platform, page);
    const { values, calls } = setup.platform.record('ann');
    expect({ values, calls }).toEqual({ values: [], calls: ['Initialize', 'Terminate'] });
  });

  test('every limit keeps whole characters, also in texts that XML cannot carry', async () => {
    // The limit is inside a character.
    const long = `${scorm === '1.2' ? '' : 'x'}${'🌊'.repeat(2_100)}`;
    const prompt = `\ud800${long}`;
    const block = { type: 'OpenResponse', props: { id: 'open', prompt } };
    const steps = sections[0]?.steps.map((step) => ({ ...step, content: { root: {}, content: [block] } }));
    const built = await buildQuiz({ sections: [{ ...sections[0], title: '🌊'.repeat(150), steps }] });
    const lesson = await buildVersion(lab.harness, lab.organization, built.path);
    const files = await filesOf((await lab.get(lesson, { query: `?format=${format}` })).body);
    const setup = { platform: await startPlatform(scorm, files), context: (await start()).context };
    const opened = await launch(setup);
    await answerStep(opened.lesson, `\u000b${long}`);
    await closeTab(setup.platform, opened.page);
    const { values } = setup.platform.record('ann');
    expect(faultsOf(scorm, values)).toEqual([]);
    const response = values.find(({ element }) => /(student|learner)_response$/.test(element))?.value ?? '';
    expect(response).toBe(long.slice(0, scorm === '1.2' ? 254 : 3_999));
  });

  test('without a mode, the platform gets results, and a score only after a scored answer', async () => {
    const setup = await start();
    const { page, lesson } = await launch(setup, { mode: '' });
    await goOn(lesson);
    await goOn(lesson);
    const { values } = setup.platform.record('ann');
    await waitFor('the third step', () => values.some(({ value }) => value === '2'));
    // Before anything else: a platform drops the state of a session that is cut off without it.
    expect(values[0]).toMatchObject({ element: scorm === '1.2' ? 'cmi.core.exit' : 'cmi.exit' });
    const scores = () => values.filter(({ element }) => /^cmi\.(core\.)?score/.test(element));
    expect(scores()).toEqual([]);
    await answerStep(lesson);
    await waitFor('a score', () => scores().length > 0);
    await closeTab(setup.platform, page);
  });

  test('the preset of a platform whose sessions expire commits while nothing changes', async () => {
    const setup = await start('&preset=sap');
    const page = await setup.context.newPage();
    await page.clock.install();
    await page.goto(setup.platform.launchUrl('ann'));
    await heading(page.frameLocator('iframe')).waitFor();
    const commits = () => setup.platform.record('ann').calls.filter((call) => call === 'Commit').length;
    await page.clock.runFor(2_000);
    await waitFor('the first commits', () => commits() > 0);
    const before = commits();
    await page.clock.runFor(4 * 60_000 + 1_000);
    await waitFor('another commit', () => commits() > before);
  });

  test('Exit ends the session once, and keeps text that was not submitted', async () => {
    const setup = await start();
    const first = await launch(setup);
    for (let step = 0; step < 3; step += 1) await goOn(first.lesson);
    await first.lesson.getByRole('textbox').fill('Not submitted');
    await first.lesson.getByRole('button', { name: 'Save and exit' }).click();
    await first.lesson.getByText('Your session has ended').waitFor();
    await first.page.close();
    const second = await launch(setup);
    expect(await second.lesson.getByRole('textbox').inputValue()).toBe('Not submitted');
    const { calls } = setup.platform.record('ann');
    expect(calls.filter((call) => call === 'Terminate')).toHaveLength(1);
  });

  test.each(['deep', 'popup', 'document', 'bridge'] as const)(
    'it finds the platform from a %s',
    async (layout) => {
      const setup = await start();
      const page = await setup.context.newPage();
      await page.goto(setup.platform.launchUrl('ann', { layout }));
      let lesson: ReturnType<Page['frameLocator']> | Page = page.frameLocator('iframe');
      if (layout === 'popup' || layout === 'document') {
        const opened = page.waitForEvent('popup');
        await page.getByRole('button', { name: 'Open' }).click();
        lesson = await opened;
      } else lesson = lesson.frameLocator('iframe');
      await playToEnd(lesson);
      await waitFor('completion', () => statusOf(setup.platform.record('ann'))[0] === 'completed');
    },
  );
});

test('without a platform, the lesson plays with a notice, and the browser keeps the progress', async () => {
  const platform = await startPlatform('1.2', await packageFiles('scorm12'));
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const url = new URL('/package/index.html', platform.launchUrl('ann')).href;
  await page.goto(url);
  await page.getByText('isn’t connected to your learning platform').waitFor();
  await goOn(page);
  await answerStep(page);
  const left = await stateOn(page);
  await page.close();
  const again = await context.newPage();
  await again.goto(url);
  expect(await stateOn(again)).toEqual(left);
});
