import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { orderedSections } from '../../shared/lessons/totals.ts';
import { blocksOf, playThrough, stepsOf } from '../player-archive/play-through.ts';
import { buildLearnerToken, buildVersion } from '../support/factories.ts';
import { realLessons } from '../support/real-lessons.ts';
import { waitFor } from '../support/wait-for.ts';
import { useEmbedLab } from './embed-lab.ts';

const lab = useEmbedLab();
vi.setConfig({ testTimeout: 600_000 });

describe.each(await realLessons())('$name', ({ path }) => {
  test('plays from first step to last in an iframe on another site, and the record says what was done', async () => {
    const lesson = JSON.parse(await readFile(join(path, 'lesson.json'), 'utf8')) as LessonContent;
    const steps = stepsOf(lesson);
    const version = await buildVersion(lab.harness, lab.organization, path, { asNew: true });
    const attributes = '{"group":"7b"}';
    const learner = await lab.open(version, {
      token: buildLearnerToken(version, { userAttributes: attributes }),
    });
    await learner.event('ready');
    const frame = learner.page.frames().find((each) => each.url().endsWith('/frame.html'));
    if (frame === undefined) throw new Error('there is no frame with the lesson');
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
    expect(record.items?.map(({ stepId, widgetId }) => [stepId, widgetId])).toEqual(
      steps.flatMap((step) =>
        blocksOf(step, 'MultipleChoice', 'OpenResponse').map(({ props }) => [step.id, props.id]),
      ),
    );
    const times = [record.startedAt, record.completedAt].map((time) => Date.parse(String(time)));
    expect(times[0]).toBeGreaterThan(openedAt - 60_000);
    expect(times[1]).toBeGreaterThanOrEqual(Number(times[0]));
    await learner.page.context().close();
  });
});
