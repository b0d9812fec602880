import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import type { LessonContent } from '../../../shared/lessons/lesson-content.ts';
import { readQuestion } from '../../../shared/lessons/multiple-choice.ts';
import { orderedSections } from '../../../shared/lessons/totals.ts';
import { answerStep, blocksOf, lookAtStep, playThrough, stepsOf } from '../archive-page/play-through.ts';
import { buildLearnerToken, buildVersion } from '../../support/factories.ts';
import { twoRealLessons } from '../../support/real-lessons.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';

const lab = useEmbedLab();
vi.setConfig({ testTimeout: 600_000 });

// Other tests check each lesson's record over the API and play each lesson from its archive.
describe.each(await twoRealLessons())('$name', ({ path }) => {
  test("plays from first step to last in a cross-site iframe, and the record contains the learner's progress", async () => {
    const lesson = await readLesson(path);
    const steps = stepsOf(lesson);
    const version = await buildVersion(lab.harness, lab.organization, path, { asNew: true });
    const attributes = '{"group":"7b"}';
    const learner = await lab.open(version, {
      token: buildLearnerToken(version, { userAttributes: attributes }),
    });
    const frame = await frameOf(learner);
    const openedAt = Date.now();
    const seen = await playThrough(frame, lesson);

    expect(seen.map(({ title }) => title)).toEqual(steps.map(({ title }) => title));
    expect(seen.flatMap(({ broken }) => broken)).toEqual([]);
    const maxScore = steps
      .flatMap((step) => blocksOf(step, 'MultipleChoice'))
      .reduce((sum, { props }) => sum + (typeof props.points === 'number' ? props.points : 1), 0);
    expect(await learner.event('complete')).toMatchObject({ score: maxScore, maxScore });
    const record = await waitFor('the end of saving', () => lab.progressOf(version));
    expect(record).toMatchObject({
      status: 'completed',
      score: maxScore,
      maxScore,
      totalSteps: steps.length,
      currentSectionIndex: lesson.sections.length - 1,
      currentStepIndex: (orderedSections(lesson).at(-1)?.steps.length ?? 0) - 1,
      progressData: { completed: true, atEnd: true },
      userAttributes: { group: '7b' },
    });
    expect(record.items?.map(({ stepId, widgetId, answer }) => [stepId, widgetId, answer])).toEqual(
      steps.flatMap((step) =>
        blocksOf(step, 'MultipleChoice', 'OpenResponse').map(({ type, props }) => [
          step.id,
          props.id,
          type === 'MultipleChoice' ? [...readQuestion(props).correct] : 'The moon.',
        ]),
      ),
    );
    const times = [record.startedAt, record.completedAt].map((time) => Date.parse(String(time)));
    expect(times[0]).toBeGreaterThan(openedAt - 60_000);
    expect(times[1]).toBeGreaterThanOrEqual(Number(times[0]));
    await learner.page.context().close();
  });

  test('closed in mid-lesson, it opens on another device at the same step with the same answers', async () => {
    const lesson = await readLesson(path);
    const step = stepsOf(lesson).find((each) => blocksOf(each, 'MultipleChoice').length > 0);
    if (step === undefined) throw new Error('there is no step with a question');
    const version = await buildVersion(lab.harness, lab.organization, path, { asNew: true });
    const first = await lab.open(version, { more: `startAt: '${step.id}'` });
    await answerStep(await frameOf(first), step);
    const answered = blocksOf(step, 'MultipleChoice', 'OpenResponse').length;
    await waitFor('the answers', async () => (await lab.progressOf(version))?.items?.length === answered);
    await first.page.context().close();

    const again = await lab.open(version);
    const frame = await frameOf(again);
    expect((await lookAtStep(frame)).title).toBe(step.title);
    const chosen = await frame.evaluate<string[]>(
      `[...document.querySelectorAll('.lectern-multiple-choice input:checked')].map(({ value }) => value)`,
    );
    const right = blocksOf(step, 'MultipleChoice').flatMap(({ props }) => [...readQuestion(props).correct]);
    expect(chosen.toSorted()).toEqual(right.toSorted());
    await again.page.context().close();
  });
});

async function readLesson(path: string): Promise<LessonContent> {
  return JSON.parse(await readFile(join(path, 'lesson.json'), 'utf8')) as LessonContent;
}

/** Returns the player's frame once the lesson is shown. */
async function frameOf({ page, event }: HostPage): Promise<Frame> {
  await event('ready');
  const frame = page.frames().find((each) => each.url().endsWith('/frame.html'));
  if (frame === undefined) throw new Error('there is no frame with the lesson');
  return frame;
}
