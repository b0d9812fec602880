import { beforeAll, describe, expect, test, vi } from 'vitest';
import { orderedSections } from '../../../shared/lessons/totals.ts';
import { buildVersion } from '../../support/factories.ts';
import { realLessons } from '../../support/real-lessons.ts';
import { useArchiveLab, ways } from './archive-lab.ts';
import type { Unpacked } from './archive-lab.ts';
import { blocksOf, playThrough, smallScreen, stepsOf } from './play-through.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const lab = useArchiveLab();

/**
 * Every lesson works the same from a server and from a folder, so only the demo lesson, which has
 * all kinds of files, is played both ways.
 */
const lessons = (await realLessons()).map((lesson, index) => ({
  ...lesson,
  from: ways.filter((_way, at) => index === 0 || index % ways.length === at),
}));

describe.each(lessons)('$name', ({ path, from }) => {
  let archive: Unpacked;
  beforeAll(async () => {
    archive = await lab.unpack(await buildVersion(lab.harness, lab.organization, path));
  });

  test.each(from)('plays from first step to last from %s', async (way) => {
    const { lesson, manifest } = archive;
    const steps = stepsOf(lesson);
    const { page, problems, told } = await lab.open(
      archive.addresses[way],
      await lab.newContext({ viewport: smallScreen }),
    );
    const seen = await playThrough(page, lesson);

    expect(seen.map(({ title }) => title)).toEqual(steps.map(({ title }) => title));
    expect(seen.flatMap(({ broken }) => broken)).toEqual([]);
    const shown = (...types: string[]) => steps.flatMap((step) => blocksOf(step, ...types)).length;
    const count = (field: 'pictures' | 'recordings') => seen.reduce((sum, step) => sum + step[field], 0);
    expect(count('pictures')).toBeGreaterThanOrEqual(shown('Image'));
    expect(count('recordings')).toBeGreaterThanOrEqual(shown('Video', 'Audio'));

    const events = await told();
    const changes = events.filter(({ name }) => name === 'onStepChange').map(({ event }) => event);
    expect(changes.map(({ stepId }) => stepId)).toEqual([
      ...steps.slice(1).map(({ id }) => id),
      // The page after the last step; the saved position does not change there.
      steps.at(-1)?.id,
    ]);
    const questions = steps.flatMap((step) => blocksOf(step, 'MultipleChoice', 'OpenResponse'));
    const maxScore = steps
      .flatMap((step) => blocksOf(step, 'MultipleChoice'))
      .reduce((sum, { props }) => sum + (typeof props.points === 'number' ? props.points : 1), 0);
    const completed = events.filter(({ name }) => name === 'onComplete').map(({ event }) => event);
    const lastSection = orderedSections(lesson).at(-1);
    expect(completed).toEqual([
      {
        lessonId: manifest.lessonId,
        versionId: manifest.versionId,
        sectionIndex: lesson.sections.length - 1,
        stepIndex: (lastSection?.steps.length ?? 0) - 1,
        stepId: steps.at(-1)?.id,
        totalSteps: steps.length,
        score: maxScore,
        maxScore,
        items: questions.map(
          ({ type, props }) => expect.objectContaining({ widgetId: props.id, widgetType: type }) as unknown,
        ),
        progressData: expect.objectContaining({ completed: true, atEnd: true }) as unknown,
        variableState: expect.any(Object) as unknown,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
      },
    ]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
