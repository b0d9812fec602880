import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { filesOf } from '../exports/exports.ts';
import { useExportLab } from '../exports/lab.ts';
import { answerStep, goOn, heading, playToEnd, stateOn } from '../lms/learner.ts';
import type { Place } from '../lms/learner.ts';
import { buildQuiz } from '../lms/lessons.ts';
import { startPlatform } from '../lms/platform.ts';
import type { Platform, ScormVersion } from '../lms/platform.ts';
import { faultsOf } from '../lms/strict-values.ts';
import { buildVersion } from '../support/factories.ts';
import { useBrowser } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { printFigure, seededRandom } from './measure.ts';

/*
 * Packages for learning platforms, of whole lessons. Learners of packages close their tabs at random points. LECTERN_TEST_LESSONS names a folder with lesson packages to play; by
 * default, the demo lesson and a quiz are played.
 */

const lab = useExportLab({}, { worker: true });
const browser = useBrowser();

/** Over both versions of SCORM and all lessons. */
const closings = 200;
/** Steps that a learner goes on before closing the tab, at most. */
const maxSteps = 4;

const formats = [
  ['scorm12', '1.2'],
  ['scorm2004', '2004'],
] as const;

async function lessonFolders(): Promise<string[]> {
  const folder = process.env.LECTERN_TEST_LESSONS;
  if (folder !== undefined) return (await readdir(folder)).sort().map((name) => join(folder, name));
  return [resolve(import.meta.dirname, '../../demo/lesson'), (await buildQuiz()).path];
}

/** Returns the platform's status and score. */
function reported(platform: Platform): unknown {
  const { core, completion_status, success_status, score } = platform.record('ann').cmi;
  const old = core as { lesson_status?: string; score?: { raw?: string } } | undefined;
  if (old !== undefined) return [old.lesson_status, old.score?.raw];
  return [completion_status, success_status, (score as { raw?: string } | undefined)?.raw];
}

test(`learners play every lesson to the end, and after each of ${closings} closed tabs, a launch shows the same step and answers, with the same status and score`, async () => {
  const folders = await lessonFolders();
  const random = seededRandom(20);
  let closed = 0;
  let finished = 0;
  for (const folder of folders) {
    const version = await buildVersion(lab.harness, lab.organization, folder);
    for (const [format, scorm] of formats) {
      const { body } = await lab.get(version, { query: `?format=${format}` });
      const files = await filesOf(body);
      let platform = await startPlatform(scorm, files);
      const share = Math.ceil(closings / folders.length / formats.length);
      for (let closing = 0; closing < share; closing += 1) {
        const isFinished = await playAndClose(platform, scorm, (place) => playSome(place, random));
        closed += 1;
        if (!isFinished) continue;
        // Another learner begins.
        finished += 1;
        platform = await startPlatform(scorm, files);
      }
      expect(await playAndClose(platform, scorm, playToEnd)).toBe(true);
      closed += 1;
      finished += 1;
    }
  }
  expect(closed).toBeGreaterThanOrEqual(closings);
  printFigure('closed tabs', {
    closed,
    'lessons finished': finished,
    packages: folders.length * formats.length,
  });
});

const buttonsOf = (lesson: Place) => lesson.getByRole('button', { name: /^(Next|Finish)$/ });

/** Goes some steps on, and answers about half of them, also the last one. */
async function playSome(lesson: Place, random: ReturnType<typeof seededRandom>): Promise<void> {
  for (let left = random.below(maxSteps + 1); (await buttonsOf(lesson).count()) > 0; left -= 1) {
    if (random.below(2) === 0) await answerStep(lesson);
    if (left === 0) return;
    await goOn(lesson);
  }
}

/** Plays, closes the tab, and launches again. Returns whether the lesson is finished. */
async function playAndClose(
  platform: Platform,
  scorm: ScormVersion,
  play: (lesson: Place) => Promise<void>,
): Promise<boolean> {
  const context = await browser.newContext();
  const launch = async () => {
    const page = await context.newPage();
    await page.goto(platform.launchUrl('ann'));
    const lesson = page.frameLocator('iframe');
    await heading(lesson).waitFor();
    return { page, lesson };
  };
  const close = async (page: Page) => {
    const ended = () => platform.record('ann').calls.filter((call) => call === 'Terminate').length;
    const before = ended();
    await page.close();
    await waitFor('the end of the session', () => ended() > before);
  };
  try {
    const { page, lesson } = await launch();
    await play(lesson);
    const left = await stateOn(lesson);
    const isFinished = (await buttonsOf(lesson).count()) === 0;
    await close(page);
    const before = reported(platform);
    const again = await launch();
    expect(await stateOn(again.lesson)).toEqual(left);
    await close(again.page);
    expect(reported(platform)).toEqual(before);
    expect(faultsOf(scorm, platform.record('ann').values)).toEqual([]);
    return isFinished;
  } finally {
    await context.close();
  }
}
