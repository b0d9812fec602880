import fc from 'fast-check';
import type { Block, LessonContent } from '../../shared/lessons/lesson-content.ts';
import { factsOf } from '../../shared/progress/facts.ts';
import { initialProgress, mergeFacts } from '../../shared/progress/merge.ts';
import { outlineOf } from '../../shared/progress/outline.ts';
import type { LessonOutline } from '../../shared/progress/outline.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite, WrittenItem } from '../../shared/progress/write.ts';
import { buildLesson, buildSection, buildStep } from '../lessons/build-lesson.ts';

export const versionId = 'aaaaaaaa-0000-4000-8000-000000000001';
export const otherVersionId = 'aaaaaaaa-0000-4000-8000-000000000002';
export const now = new Date('2026-03-01T10:00:00.000Z');
export const later = new Date('2026-03-01T11:00:00.000Z');

/** A question whose right answer is `["a"]`. */
export function buildQuestion(id: string, props: Record<string, unknown> = {}): Block {
  const choices = ['a', 'b', 'c'].map((choice) => ({ id: choice, html: choice }));
  return { type: 'MultipleChoice', props: { id, choices, correct: ['a'], ...props } };
}

export function buildWidget(type: string, id: string, props: Record<string, unknown> = {}): Block {
  return { type, props: { id, ...props } };
}

/** The blocks of each step, by the step's id, of each section. */
export type Sections = Record<string, Block[]>[];

export function contentOf(sections: Sections): LessonContent {
  return buildLesson({
    sections: sections.map((steps, index) =>
      buildSection({
        id: `section-${index}`,
        order_index: index,
        steps: Object.entries(steps).map(([id, content], order_index) =>
          buildStep({ id, order_index, content: { content, root: {} } }),
        ),
      }),
    ),
  });
}

export function buildOutline(sections: Sections): LessonOutline {
  return outlineOf(contentOf(sections));
}

/** Wraps an outline so that the reads of its parts are counted. */
export function countReads(outlined: LessonOutline): { lesson: LessonOutline; reads: () => number } {
  let reads = 0;
  const watch = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, key) {
        reads += 1;
        const found: unknown = Reflect.get(target, key);
        return typeof found === 'object' && found !== null ? watch(found) : found;
      },
    });
  return { lesson: watch(outlined), reads: () => reads };
}

/** Two sections of two steps and one; `quiz` and `quiz-2` are worth a point each, `slider` is a custom widget. */
export const outline = buildOutline([
  { intro: [buildWidget('Text', 'welcome')], quiz: [buildQuestion('quiz'), buildWidget('Slider', 'slider')] },
  { end: [buildQuestion('quiz-2'), buildWidget('OpenResponse', 'essay')] },
]);

export function buildWrite(overrides: Partial<ProgressWrite> = {}): ProgressWrite {
  return {
    versionId,
    attempt: undefined,
    writeId: undefined,
    ageMs: 0,
    currentSectionIndex: 0,
    currentStepIndex: 0,
    progressData: undefined,
    variables: [],
    items: [],
    stepTimes: {},
    completed: false,
    restart: false,
    ...overrides,
  };
}

/**
 * @param widget a widget of the position's step, or `step/widget`
 * @param answer a JSON value
 */
export function buildItem(
  widget: string,
  answer: unknown,
  score: number | null = null,
  maxScore = score,
): WrittenItem {
  const [widgetId = '', stepId] = widget.split('/').reverse();
  return { stepId, widgetId, answer: JSON.stringify(answer), score, maxScore };
}

export function buildState(overrides: Partial<ProgressState> = {}): ProgressState {
  return { ...initialProgress(versionId, outline, now), ...overrides };
}

let writes = 0;

/**
 * Merges a write into a state, by default that of a learner without a record. Of writes of one time, the later one wins.
 */
export function play(
  lesson: LessonOutline,
  write: Partial<ProgressWrite>,
  state: ProgressState = initialProgress(versionId, lesson, now),
  at = now,
): ProgressState {
  const nextId = `write-${String((writes += 1)).padStart(9, '0')}`;
  const { writeId = nextId, attempt = state.attempt + (write.restart === true ? 1 : 0) } = write;
  const context = { now: at, writeId, attempt, userAttributes: null };
  return mergeFacts(state, factsOf(buildWrite(write), lesson, context), lesson, at);
}

const widgetIds = ['q1', 'q2', 'q3', 's1', 's2', 'open'];

/** Points of custom widgets: one declares some, one none. */
const declared: Record<string, number | undefined> = { s1: 7 };

function blockOf(id: string, points: number, isConditional: boolean): Block {
  const props = isConditional ? { visibleIf: { variable: 'x' } } : {};
  if (id === 'open') return buildWidget('OpenResponse', id, props);
  if (id.startsWith('s')) return buildWidget('Slider', id, { ...props, points: declared[id] });
  return buildQuestion(id, { ...props, points, correct: ['a', 'b'], partialCredit: true });
}

const anyStep = fc
  .uniqueArray(fc.constantFrom(...widgetIds), { maxLength: 4 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc
          .tuple(fc.constantFrom(0, 0.1, 1, 2.5, 1e308), fc.boolean())
          .map(([points, isConditional]) => blockOf(id, points, isConditional)),
      ),
    ),
  );

/** Lessons made of a few steps and widgets, so that two of them overlap. */
export const anyOutline: fc.Arbitrary<LessonOutline> = fc
  .uniqueArray(fc.constantFrom('step-1', 'step-2', 'step-3', 'step-4', 'step-5'), { minLength: 1 })
  .chain((ids) => fc.tuple(fc.constant(ids), fc.nat(ids.length - 1), fc.tuple(...ids.map(() => anyStep))))
  .map(([ids, cut, contents]) => {
    const steps = ids.map((id, index) => [id, contents[index] ?? []] as const);
    const halves = [steps.slice(0, cut), steps.slice(cut)].filter(({ length }) => length > 0);
    return buildOutline(halves.map((half) => Object.fromEntries(half)));
  });

/** Facts of a lesson: many of the same widgets, variables and times, so that they compete. */
export function anyWrite({ sections }: LessonOutline): fc.Arbitrary<ProgressWrite> {
  const places = sections.flatMap(({ steps }, section) => steps.map((_step, step) => ({ section, step })));
  const widgets = sections.flatMap(({ steps }) =>
    steps.flatMap((step) => step.widgets.map(({ widgetId }) => `${step.id}/${widgetId}`)),
  );
  const points = fc.double({ min: 0, max: 1000, noNaN: true });
  const ageMs = fc.nat(4).map((seconds) => seconds * 1000);
  const item = (widget: string) =>
    fc
      .tuple(fc.subarray(['a', 'b', 'c']), fc.option(fc.tuple(points, points)), ageMs)
      .map(([answer, pair, age]) => ({
        ...(pair === null
          ? buildItem(widget, answer)
          : buildItem(widget, answer, Math.min(...pair), Math.max(...pair))),
        ageMs: age,
      }));
  const variable = fc.record({
    name: fc.constantFrom('x', '1'),
    value: fc.constantFrom('1', '1e400', '"z"'),
  });
  return fc
    .record({
      place: fc.constantFrom(...places),
      items: fc.subarray(widgets).chain((some) => fc.tuple(...some.map(item))),
      variables: fc.uniqueArray(variable, { selector: ({ name }) => name }),
      progressData: fc.constantFrom(undefined, null, '{"1":1e400}', '{}'),
      attempt: fc.integer({ min: 1, max: 3 }),
      ageMs,
      completed: fc.boolean(),
      restart: fc.boolean(),
    })
    .map(({ place, ...rest }) =>
      buildWrite({ ...rest, currentSectionIndex: place.section, currentStepIndex: place.step }),
    );
}
