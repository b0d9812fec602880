import { describe, expect, test } from 'vitest';

import { coreWidgetTypes, isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import { estimatedDuration, orderedSections, totalsOf } from '../../shared/lessons/totals.ts';
import { buildLesson, buildSection, buildStep } from './build-lesson.ts';

const lesson = buildLesson({
  sections: [
    buildSection({ id: 'late', order_index: 5, steps: [buildStep()] }),
    buildSection({
      id: 'early',
      order_index: -1,
      steps: [
        buildStep({ id: 'b', order_index: 2 }),
        buildStep({ id: 'c', order_index: 2 }),
        buildStep({ id: 'a', order_index: 0.5 }),
      ],
    }),
    buildSection({ id: 'late too', order_index: 5, steps: [] }),
  ],
});

describe('totals', () => {
  test('are counted, whatever lesson.json states', () => {
    expect(totalsOf({ ...lesson, sections: lesson.sections })).toEqual({ totalSections: 3, totalSteps: 4 });
    expect(totalsOf({ sections: [] })).toEqual({ totalSections: 0, totalSteps: 0 });
  });

  test('the duration is the lesson’s own in minutes, zero included, or else 2 minutes for each step', () => {
    const lasting = (minutes: number | null | undefined) =>
      estimatedDuration({ ...lesson, lesson: { ...lesson.lesson, estimatedDuration: minutes } });

    expect(lasting(195)).toBe(195);
    expect(lasting(0)).toBe(0);
    expect(lasting(undefined)).toBe(8);
    expect(lasting(null)).toBe(8);
  });
});

describe('order', () => {
  test('follows order_index, with ties by position', () => {
    const ordered = orderedSections(lesson);

    expect(ordered.map(({ id }) => id)).toEqual(['early', 'late', 'late too']);
    expect(ordered[0]?.steps.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });
});

test('a core widget is recognized by its exact name', () => {
  expect(coreWidgetTypes.every(isCoreWidget)).toBe(true);
  expect(['text', 'Quiz', '', 'toString', '__proto__'].some(isCoreWidget)).toBe(false);
});
