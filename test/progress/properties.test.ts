import fc from 'fast-check';
import { expect, test } from 'vitest';
import { carryOver } from '../../shared/progress/carry-over.ts';
import { pointsOfWidget, widgetKey, widgetsByKey } from '../../shared/progress/outline.ts';
import type { LessonOutline, OutlineWidget } from '../../shared/progress/outline.ts';
import { applyWrite, initialProgress } from '../../shared/progress/rules.ts';
import { itemsFromJson, itemsToJson, progressStatuses } from '../../shared/progress/state.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import { anyOutline, anyWrite, now, otherVersionId, versionId } from './build-progress.ts';

/** A lesson, writes to it, and the states after each write, a minute apart, beginning with the initial one. */
interface Course {
  outline: LessonOutline;
  widgets: OutlineWidget[];
  writes: ProgressWrite[];
  states: ProgressState[];
  last: ProgressState;
}

const anyCourse: fc.Arbitrary<Course> = anyOutline.chain((outline) =>
  fc.array(anyWrite(outline), { minLength: 1, maxLength: 6 }).map((writes) => courseOf(outline, writes)),
);

function courseOf(outline: LessonOutline, writes: ProgressWrite[]): Course {
  let last = initialProgress(versionId, outline, now);
  const states = [last];
  for (const [index, write] of writes.entries()) {
    last = applyWrite(last, write, outline, new Date(now.getTime() + (index + 1) * 60_000));
    states.push(last);
  }
  const widgets = outline.sections.flatMap(({ steps }) => steps.flatMap((step) => step.widgets));
  return { outline, widgets, writes, states, last };
}

/** Tests a property of any lesson and any writes to it. */
function testAnyCourse(title: string, property: (course: Course) => void): void {
  test(title, () => fc.assert(fc.property(anyCourse, property)));
}

const isPosition = (outline: LessonOutline, { sectionIndex, stepIndex, stepId }: ProgressState) =>
  outline.sections[sectionIndex]?.steps[stepIndex]?.id === stepId;

function expectBounds({ score, maxScore, items }: ProgressState): void {
  for (const points of [{ score, maxScore }, ...(items ?? [])]) {
    if (points.score === null) continue;
    expect(points.score).toBeGreaterThanOrEqual(0);
    expect(points.score).toBeLessThanOrEqual(points.maxScore ?? -1);
    expect(points.maxScore).toBeLessThan(Infinity);
  }
}

testAnyCourse('the status never regresses, and matches the times, which are set once', ({ states }) => {
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
});

testAnyCourse(
  'scores are between 0 and a finite maximum, the position exists, and the items fit',
  (course) => {
    const { outline, states, widgets } = course;
    for (const state of states) {
      expectBounds(state);
      expect(isPosition(outline, state)).toBe(true);
      expect(state.items?.length ?? 0).toBeLessThanOrEqual(widgets.length);
      const items = state.items ?? [];
      expect(itemsFromJson(itemsToJson(items))).toEqual(items);
    }
  },
);

testAnyCourse('a repeated write changes only the revision, and the attempt if it is a restart', (course) => {
  const { outline, states, writes } = course;
  const [write, before] = [writes.at(-1), states.at(-2)];
  if (write === undefined || before === undefined) return;
  const once = applyWrite(before, write, outline, now);
  const attempt = write.restart ? once.attempt + 1 : once.attempt;
  const revision = once.revision + 1;
  expect(applyWrite(once, write, outline, now)).toEqual({ ...once, revision, attempt });
});

test("a player's claimed points for core widgets change nothing", () => {
  const claim = fc.option(fc.constantFrom(0, 0.5, 1, 1000), { nil: null });
  fc.assert(
    fc.property(anyCourse, claim, ({ outline, writes, states }, score) => {
      const forged = writes.map((write) => ({
        ...write,
        items: write.items.map((item) =>
          item.widgetId.startsWith('s') ? item : { ...item, score, maxScore: score },
        ),
      }));
      expect(courseOf(outline, forged).states).toEqual(states);
    }),
  );
});

testAnyCourse('a custom widget earns at most its declared points, whatever a player claims', (course) => {
  const declared = new Map(course.widgets.map((widget) => [widget.widgetId, widget.declaredPoints]));
  for (const { widgetId, widgetType, score, maxScore } of course.last.items ?? []) {
    if (widgetType !== 'Slider') continue;
    const points = declared.get(widgetId) ?? null;
    expect(score === null || score <= (points ?? -1)).toBe(true);
    expect(maxScore).toBe(score === null ? null : points);
  }
});

testAnyCourse('carrying over to an identical version changes only its id', ({ outline, last }) => {
  expect(carryOver(last, outline, otherVersionId, outline)).toEqual({ ...last, versionId: otherVersionId });
});

test('carrying over loses no answer, earns no more than the version gives, keeps the position inside it, and is idempotent', () => {
  fc.assert(
    fc.property(anyCourse, anyOutline, ({ outline, last }, to) => {
      const next = carryOver(last, outline, otherVersionId, to);
      const answersOf = ({ items }: ProgressState) =>
        items?.map(({ widgetId, widgetType, answer, answeredAt }) => [
          widgetId,
          widgetType,
          answer,
          answeredAt,
        ]);
      expect(answersOf(next)).toEqual(answersOf(last));
      const widgets = widgetsByKey(to);
      for (const { stepId, widgetId, score } of next.items ?? []) {
        const widget = widgets.get(widgetKey(stepId, widgetId));
        if (widget !== undefined) expect(score ?? 0).toBeLessThanOrEqual(pointsOfWidget(widget) ?? 0);
      }
      const most = [...widgets.values()].reduce((sum, widget) => sum + (pointsOfWidget(widget) ?? 0), 0);
      expect(next.score ?? 0).toBeLessThanOrEqual(most);
      const keys = next.items?.map(({ stepId, widgetId }) => `${stepId}/${widgetId}`);
      expect(new Set(keys).size).toBe(next.items?.length ?? 0);
      expect(isPosition(to, next)).toBe(true);
      expectBounds(next);
      const { status, revision, startedAt, completedAt, lastActivityAt } = last;
      expect(next).toMatchObject({ status, revision, startedAt, completedAt, lastActivityAt });
      expect(carryOver(next, to, otherVersionId, to)).toEqual(next);
    }),
  );
});
