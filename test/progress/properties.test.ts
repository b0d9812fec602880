import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { carryOver } from '../../shared/progress/carry-over.ts';
import { pointsOfWidget, widgetKey, widgetsByKey } from '../../shared/progress/outline.ts';
import type { LessonOutline } from '../../shared/progress/outline.ts';
import { applyWrite, initialProgress } from '../../shared/progress/rules.ts';
import { itemsFromJson, itemsToJson, progressStatuses } from '../../shared/progress/state.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import { nextStatus } from '../../shared/progress/rules.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import { anyOutline, anyWrite, now, otherVersionId, versionId } from './build-progress.ts';

/** A lesson and writes to it, in the order they come. */
const anyCourse = anyOutline.chain((outline) =>
  fc.record({
    outline: fc.constant(outline),
    writes: fc.array(anyWrite(outline), { minLength: 1, maxLength: 6 }),
  }),
);

/** The states after each write, a minute apart, beginning with the initial one. */
function statesOf(outline: LessonOutline, writes: ProgressWrite[]): ProgressState[] {
  let state = initialProgress(versionId, outline, now);
  return [
    state,
    ...writes.map((write, index) => {
      state = applyWrite(state, write, outline, new Date(now.getTime() + (index + 1) * 60_000));
      return state;
    }),
  ];
}

function lastState(outline: LessonOutline, writes: ProgressWrite[]): ProgressState {
  return statesOf(outline, writes).at(-1) ?? initialProgress(versionId, outline, now);
}

const isPlace = (outline: LessonOutline, { sectionIndex, stepIndex, stepId }: ProgressState) =>
  outline.sections[sectionIndex]?.steps[stepIndex]?.id === stepId;

function expectBounds({ score, maxScore, items }: ProgressState): void {
  for (const points of [{ score, maxScore }, ...(items ?? [])]) {
    if (points.score === null) continue;
    expect(points.score).toBeGreaterThanOrEqual(0);
    expect(points.score).toBeLessThanOrEqual(points.maxScore ?? -1);
    expect(points.maxScore).toBeLessThan(Infinity);
  }
}

describe('after any writes', () => {
  test('the status never regresses, and matches the times, which are set once', () => {
    fc.assert(
      fc.property(anyCourse, ({ outline, writes }) => {
        const states = statesOf(outline, writes);
        for (const [index, state] of states.entries()) {
          const before = states[index - 1] ?? state;
          expect(progressStatuses.indexOf(state.status)).toBeGreaterThanOrEqual(
            progressStatuses.indexOf(before.status),
          );
          expect(state.startedAt === null).toBe(state.status === 'not_started');
          expect(state.completedAt === null).toBe(state.status !== 'completed');
          if (before.startedAt !== null) expect(state.startedAt).toBe(before.startedAt);
          if (before.completedAt !== null) expect(state.completedAt).toBe(before.completedAt);
          expect(state.revision).toBe(index);
        }
      }),
    );
  });

  test('every score is between 0 and its maximum, which is finite', () => {
    fc.assert(
      fc.property(anyCourse, ({ outline, writes }) => {
        for (const state of statesOf(outline, writes)) expectBounds(state);
      }),
    );
  });

  test('the position is valid in the version, and items do not outnumber its widgets', () => {
    fc.assert(
      fc.property(anyCourse, ({ outline, writes }) => {
        const widgets = outline.sections.flatMap(({ steps }) => steps.flatMap((step) => step.widgets));
        for (const state of statesOf(outline, writes)) {
          expect(isPlace(outline, state)).toBe(true);
          expect(state.items?.length ?? 0).toBeLessThanOrEqual(widgets.length);
        }
      }),
    );
  });

  test('the items can be stored and read again', () => {
    fc.assert(
      fc.property(anyCourse, ({ outline, writes }) => {
        const items = lastState(outline, writes).items ?? [];
        expect(itemsFromJson(itemsToJson(items))).toEqual(items);
      }),
    );
  });

  test('a repeated write changes only the revision, and the attempt if it is a restart', () => {
    fc.assert(
      fc.property(anyCourse, ({ outline, writes }) => {
        const write = writes.at(-1);
        if (write === undefined) return;
        const once = applyWrite(lastState(outline, writes.slice(0, -1)), write, outline, now);
        const attempt = write.restart ? once.attempt + 1 : once.attempt;
        const revision = once.revision + 1;
        expect(applyWrite(once, write, outline, now)).toEqual({ ...once, revision, attempt });
      }),
    );
  });

  test("a player's claimed points for core widgets change nothing", () => {
    const claim = fc.option(fc.constantFrom(0, 0.5, 1, 1000), { nil: null });
    fc.assert(
      fc.property(anyCourse, claim, ({ outline, writes }, score) => {
        const forged = writes.map((write) => ({
          ...write,
          items: write.items.map((item) =>
            item.widgetId.startsWith('s') ? item : { ...item, score, maxScore: score },
          ),
        }));
        expect(statesOf(outline, forged)).toEqual(statesOf(outline, writes));
      }),
    );
  });
});

test('whatever a player claims, a custom widget earns at most its declared points', () => {
  fc.assert(
    fc.property(anyCourse, ({ outline, writes }) => {
      const widgets = outline.sections.flatMap(({ steps }) => steps.flatMap((step) => step.widgets));
      const most = new Map(widgets.map((widget) => [widget.widgetId, widget.declaredPoints]));
      for (const { widgetId, widgetType, score, maxScore } of lastState(outline, writes).items ?? []) {
        if (widgetType !== 'Slider') continue;
        const points = most.get(widgetId) ?? null;
        expect(score === null || score <= (points ?? -1)).toBe(true);
        expect(maxScore).toBe(score === null ? null : points);
      }
    }),
  );
});

describe('carrying over', () => {
  test('to an identical version changes only its id', () => {
    fc.assert(
      fc.property(anyCourse, ({ outline, writes }) => {
        const state = lastState(outline, writes);
        expect(carryOver(state, outline, otherVersionId, outline)).toEqual({
          ...state,
          versionId: otherVersionId,
        });
      }),
    );
  });

  test('to any version loses no answer, earns no more than it gives, and keeps the position inside it', () => {
    fc.assert(
      fc.property(anyCourse, anyOutline, ({ outline, writes }, to) => {
        const state = lastState(outline, writes);
        const next = carryOver(state, outline, otherVersionId, to);
        const answersOf = ({ items }: ProgressState) =>
          items?.map(({ widgetId, widgetType, answer, answeredAt }) => [
            widgetId,
            widgetType,
            answer,
            answeredAt,
          ]);
        expect(answersOf(next)).toEqual(answersOf(state));
        const widgets = widgetsByKey(to);
        for (const { stepId, widgetId, score } of next.items ?? []) {
          const widget = widgets.get(widgetKey(stepId, widgetId));
          if (widget !== undefined) expect(score ?? 0).toBeLessThanOrEqual(pointsOfWidget(widget) ?? 0);
        }
        const most = [...widgets.values()].reduce((sum, widget) => sum + (pointsOfWidget(widget) ?? 0), 0);
        expect(next.score ?? 0).toBeLessThanOrEqual(most);
        expect(new Set(next.items?.map(({ stepId, widgetId }) => `${stepId}/${widgetId}`)).size).toBe(
          next.items?.length ?? 0,
        );
        expect(isPlace(to, next)).toBe(true);
        expectBounds(next);
        const { status, revision, startedAt, completedAt, lastActivityAt } = state;
        expect(next).toMatchObject({ status, revision, startedAt, completedAt, lastActivityAt });
      }),
    );
  });

  test('twice is the same as once', () => {
    fc.assert(
      fc.property(anyCourse, anyOutline, ({ outline, writes }, to) => {
        const once = carryOver(lastState(outline, writes), outline, otherVersionId, to);
        expect(carryOver(once, to, otherVersionId, to)).toEqual(once);
      }),
    );
  });
});

test('completed is final, and no event moves the status back', () => {
  for (const [index, status] of progressStatuses.entries()) {
    for (const event of ['view', 'act', 'finish'] as const) {
      expect(progressStatuses.indexOf(nextStatus(status, event))).toBeGreaterThanOrEqual(index);
    }
    expect(nextStatus('completed', 'view')).toBe('completed');
    expect(nextStatus(status, 'finish')).toBe('completed');
  }
});
