import fc from 'fast-check';
import { expect, test } from 'vitest';
import { carryOver } from '../../shared/progress/carry-over.ts';
import { carryFacts, factsOf } from '../../shared/progress/facts.ts';
import type { Facts } from '../../shared/progress/facts.ts';
import { initialProgress, mergeFacts } from '../../shared/progress/merge.ts';
import { pointsOfWidget, widgetKey, widgetsByKey } from '../../shared/progress/outline.ts';
import type { LessonOutline, OutlineWidget } from '../../shared/progress/outline.ts';
import { progressStatuses } from '../../shared/progress/state.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import { anyOutline, anyWrite, now, otherVersionId, versionId } from './build-progress.ts';

/** A write that a device sends once or more, in one request or in parts. */
interface SentWrite {
  write: ProgressWrite;
  /** Unique. A part has it as its prefix. */
  id: string;
  issuedAt: number;
}

const anyWrites = (outline: LessonOutline): fc.Arbitrary<SentWrite[]> =>
  fc
    .array(fc.tuple(anyWrite(outline), fc.nat(2)), { minLength: 1, maxLength: 7 })
    .chain((writes) =>
      fc
        .shuffledSubarray([...'abcdefg'], { minLength: writes.length, maxLength: writes.length })
        .map((ids) => writes.map(([write, issuedAt], place) => ({ write, issuedAt, id: ids[place] ?? '' }))),
    );

/** A lesson, writes to it, and the states after each write, a minute apart, beginning with the initial one. */
interface Course {
  outline: LessonOutline;
  widgets: OutlineWidget[];
  writes: SentWrite[];
  states: ProgressState[];
  last: ProgressState;
}

const anyCourse: fc.Arbitrary<Course> = anyOutline.chain((outline) =>
  anyWrites(outline).map((writes) => courseOf(outline, writes)),
);

function toFacts({ write, id, issuedAt }: SentWrite, outline: LessonOutline): Facts {
  const { attempt = 1 } = write;
  const userAttributes = { text: `{"of":"${id}"}`, issuedAt };
  return factsOf(write, outline, { now, writeId: id, attempt, userAttributes });
}

function mergeAll(
  outline: LessonOutline,
  facts: readonly Facts[],
  start = startOf(outline),
): ProgressState[] {
  let last = start;
  return facts.map((some, place) => {
    last = mergeFacts(last, some, outline, new Date(now.getTime() + (place + 1) * 60_000));
    return last;
  });
}

function startOf(outline: LessonOutline): ProgressState {
  return initialProgress(versionId, outline, now);
}

function courseOf(outline: LessonOutline, writes: SentWrite[]): Course {
  const start = startOf(outline);
  const states = [
    start,
    ...mergeAll(
      outline,
      writes.map((sent) => toFacts(sent, outline)),
    ),
  ];
  const widgets = outline.sections.flatMap(({ steps }) => steps.flatMap((step) => step.widgets));
  return { outline, widgets, writes, states, last: states.at(-1) ?? start };
}

/** Tests a property of any lesson and any writes to it. */
function testAnyCourse(title: string, property: (course: Course) => void): void {
  test(title, () => fc.assert(fc.property(anyCourse, property)));
}

/** Splits a write into one with its position and others with a fact each, which get ids of their own. */
function split({ write, id, issuedAt }: SentWrite): SentWrite[] {
  const { items, variables, progressData, completed } = write;
  const nothing = { ...write, items: [], variables: [], progressData: undefined, completed: false };
  const parts: ProgressWrite[] = [
    { ...nothing, completed },
    { ...nothing, progressData },
    ...items.map((item) => ({ ...nothing, items: [item] })),
    ...variables.map((variable) => ({ ...nothing, variables: [variable] })),
  ];
  // Attributes are compared by the part that had them last.
  return parts.map((part, place) => ({ write: part, id: `${id}.${place}`, issuedAt }));
}

const wholeId = (id: string) => id.replace(/\.\d+/, '');
const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** What the order of arrival may decide; finish and parts are compared below. */
const ofArrival = ['revision', 'recentWriteIds', 'startedAt', 'completedAt', 'lastActivityAt', 'finished'];

/** Returns what facts alone decide: without tries, grade, times of arrival, and the sequence of entries. */
function decidedByFacts(state: ProgressState): Record<string, unknown> {
  const { finished, items, variables, positionOrder, progressDataOrder, userAttributes } = state;
  const decided = Object.entries(state).filter(([field]) => !ofArrival.includes(field));
  const orderOf = (order: { at: Date; writeId: string } | null) =>
    order && [order.at, wholeId(order.writeId)];
  return {
    ...Object.fromEntries(decided),
    isFinished: finished?.isCurrent ?? false,
    items: items.map((item) => ({ ...item, tries: 0, writeId: wholeId(item.writeId) })).sort(byText),
    variables: variables.map((one) => ({ ...one, writeId: wholeId(one.writeId) })).sort(byText),
    positionOrder: orderOf(positionOrder),
    progressDataOrder: orderOf(progressDataOrder),
    userAttributes: userAttributes && { ...userAttributes, text: wholeId(userAttributes.text) },
  };
}

test('any order, any repetition and any split of the same writes give the same record', () => {
  const anyDelivery = anyOutline.chain((outline) =>
    anyWrites(outline).chain((writes) => {
      const parts = writes.flatMap((sent) => [sent, ...split(sent)]);
      return fc
        .tuple(
          // Each write arrives as a whole or in parts, and some parts arrive beside the whole.
          fc.tuple(...writes.map(() => fc.boolean())),
          fc.array(fc.constantFrom(...parts), { maxLength: 10 }),
        )
        .chain(([whole, repeated]) => {
          const sent = writes.flatMap((write, place) => (whole[place] ? [write] : split(write)));
          const all = [...sent, ...repeated];
          return fc
            .shuffledSubarray(all, { minLength: all.length, maxLength: all.length })
            .map((arrived) => ({ outline, writes, arrived }));
        });
    }),
  );
  fc.assert(
    fc.property(anyDelivery, ({ outline, writes, arrived }) => {
      const recordOf = (sent: readonly SentWrite[]) =>
        mergeAll(
          outline,
          sent.map((one) => toFacts(one, outline)),
        ).at(-1) ?? startOf(outline);
      expect(decidedByFacts(recordOf(arrived))).toEqual(decidedByFacts(recordOf(writes)));
    }),
    { numRuns: 100 },
  );
});

testAnyCourse('a repeated write changes nothing, also after others', ({ outline, writes, last }) => {
  for (const sent of writes) expect(mergeFacts(last, toFacts(sent, outline), outline, now)).toBe(last);
});

testAnyCourse('facts of an earlier attempt change nothing, but `completed` sets the status', (course) => {
  const { outline, writes, last } = course;
  for (const { write, issuedAt } of writes) {
    const facts = { ...toFacts({ write, id: 'new', issuedAt }, outline), attempt: last.attempt };
    const later = { ...last, attempt: last.attempt + 1, userAttributes: null };
    const merged = mergeFacts(later, { ...facts, userAttributes: null }, outline, now);
    if (facts.completed && last.status !== 'completed') {
      expect(merged).toEqual({
        ...later,
        ...{ status: 'completed', completedAt: now, lastActivityAt: now },
        ...{ startedAt: later.startedAt ?? now, revision: later.revision + 1 },
        recentWriteIds: [...later.recentWriteIds, 'new'].slice(-20),
      });
    } else expect(merged).toBe(later);
  }
});

testAnyCourse('status and attempt never go back, times are set once, and tries never fall', ({ states }) => {
  for (const [index, state] of states.entries()) {
    const before = states[index - 1] ?? state;
    const rank = ({ status }: ProgressState) => progressStatuses.indexOf(status);
    expect(rank(state)).toBeGreaterThanOrEqual(rank(before));
    expect(state.attempt).toBeGreaterThanOrEqual(before.attempt);
    expect(state.startedAt === null).toBe(state.status === 'not_started');
    expect(state.completedAt === null).toBe(state.status !== 'completed');
    if (before.startedAt !== null) expect(state.startedAt).toBe(before.startedAt);
    if (before.completedAt !== null) expect(state.completedAt).toBe(before.completedAt);
    expect(state.revision).toBe(before.revision + (state === before ? 0 : 1));
    if (state.attempt > before.attempt) continue;
    for (const { stepId, widgetId, tries } of before.items) {
      const item = state.items.find((one) => one.stepId === stepId && one.widgetId === widgetId);
      expect(item?.tries).toBeGreaterThanOrEqual(tries);
    }
  }
});

const isPosition = (outline: LessonOutline, { sectionIndex, stepIndex, stepId }: ProgressState) =>
  outline.sections[sectionIndex]?.steps[stepIndex]?.id === stepId;

function expectBounds({ score, maxScore, items }: ProgressState): void {
  for (const points of [{ score, maxScore }, ...items]) {
    if (points.score === null) continue;
    expect(points.score).toBeGreaterThanOrEqual(0);
    expect(points.score).toBeLessThanOrEqual(points.maxScore ?? -1);
    expect(points.maxScore).toBeLessThan(Infinity);
  }
}

testAnyCourse(
  'scores are between 0 and a finite maximum, the position exists, and the items fit',
  ({ outline, states, widgets }) => {
    for (const state of states) {
      expectBounds(state);
      expect(isPosition(outline, state)).toBe(true);
      expect(state.items.length).toBeLessThanOrEqual(widgets.length);
    }
  },
);

test("a player's claimed points for core widgets change nothing", () => {
  const claim = fc.option(fc.constantFrom(0, 0.5, 1, 1000), { nil: null });
  fc.assert(
    fc.property(anyCourse, claim, ({ outline, writes, states }, score) => {
      const forged = writes.map(({ write, ...sent }) => {
        const items = write.items.map((item) =>
          item.widgetId.startsWith('s') ? item : { ...item, score, maxScore: score },
        );
        return { ...sent, write: { ...write, items } };
      });
      expect(courseOf(outline, forged).states).toEqual(states);
    }),
  );
});

testAnyCourse('a custom widget earns at most its declared points, whatever a player claims', (course) => {
  const declared = new Map(course.widgets.map((widget) => [widget.widgetId, widget.declaredPoints]));
  for (const { widgetId, widgetType, score, maxScore } of course.last.items) {
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
        items.map(({ widgetId, widgetType, answer, answeredAt }) => [
          widgetId,
          widgetType,
          answer,
          answeredAt,
        ]);
      expect(answersOf(next)).toEqual(answersOf(last));
      const widgets = widgetsByKey(to);
      for (const { stepId, widgetId, score } of next.items) {
        const widget = widgets.get(widgetKey(stepId, widgetId));
        if (widget !== undefined) expect(score ?? 0).toBeLessThanOrEqual(pointsOfWidget(widget) ?? 0);
      }
      const most = [...widgets.values()].reduce((sum, widget) => sum + (pointsOfWidget(widget) ?? 0), 0);
      expect(next.score ?? 0).toBeLessThanOrEqual(most);
      const keys = next.items.map(({ stepId, widgetId }) => `${stepId}/${widgetId}`);
      expect(new Set(keys).size).toBe(next.items.length);
      expect(isPosition(to, next)).toBe(true);
      expectBounds(next);
      const { status, revision, startedAt, completedAt, lastActivityAt } = last;
      expect(next).toMatchObject({ status, revision, startedAt, completedAt, lastActivityAt });
      expect(carryOver(next, to, otherVersionId, to)).toEqual(next);
    }),
  );
});

test('with steps in another order, a write to the older version is merged as before the change', () => {
  fc.assert(
    fc.property(anyCourse, fc.boolean(), ({ outline, writes, last }, isReversed) => {
      const to = { ...outline, sections: isReversed ? outline.sections.toReversed() : outline.sections };
      const start = initialProgress(otherVersionId, to, now);
      const carried = writes.map((sent) => carryFacts(toFacts(sent, outline), outline, to));
      const after = mergeAll(to, carried, start).at(-1) ?? start;
      const expected = decidedByFacts(carryOver(last, outline, otherVersionId, to));
      // Before the first activity, a record begins at the first step of each version.
      if (last.status !== 'not_started') expect(decidedByFacts(after)).toEqual(expected);
    }),
  );
});
