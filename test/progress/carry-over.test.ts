import { describe, expect, test } from 'vitest';

import { carryOver } from '../../shared/progress/carry-over.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { Sections } from './build-progress.ts';
import {
  buildItem,
  buildOutline,
  buildQuestion,
  buildState,
  buildWidget,
  countReads,
  later,
  now,
  otherVersionId,
  outline,
  play,
  versionId,
} from './build-progress.ts';

const over = (state: ProgressState, sections: Sections) =>
  carryOver(state, outline, otherVersionId, buildOutline(sections));
const text = [buildWidget('Text', 'text')];
const answered = (...items: ReturnType<typeof buildItem>[]) =>
  play(outline, { currentSectionIndex: 1, items });
const positionsOf = ({ items }: ProgressState) =>
  items.map(({ stepId, widgetId }) => `${stepId}/${widgetId}`);

describe('the position in a new version', () => {
  const at = (sectionIndex: number, stepIndex: number, stepId: string) =>
    buildState({ status: 'in_progress', sectionIndex, stepIndex, stepId });

  test.each<[title: string, state: ProgressState, to: Sections, place: [number, number, string]]>([
    ['follows the step', at(0, 1, 'quiz'), [{ new: text }, { end: text, quiz: text }], [1, 1, 'quiz']],
    [
      'is the nearest earlier step that is left',
      at(1, 0, 'end'),
      [{ new: text, intro: text }],
      [0, 1, 'intro'],
    ],
    [
      'is the first step when none before is left',
      at(0, 1, 'quiz'),
      [{ new: text, end: text }],
      [0, 0, 'new'],
    ],
    [
      'is the first step when the step is unknown',
      at(0, 1, 'lost'),
      [{ new: text, quiz: text }],
      [0, 0, 'new'],
    ],
    [
      'is the first step for who has not started',
      buildState({ stepId: 'intro' }),
      [{ new: text, intro: text }],
      [0, 0, 'new'],
    ],
  ])('%s', (_title, state, to, [sectionIndex, stepIndex, stepId]) => {
    expect(over(state, to)).toMatchObject({ sectionIndex, stepIndex, stepId });
  });
});

describe('answers in a new version', () => {
  test.each([
    ['more points', { points: 5 }, { score: 5, maxScore: 5 }],
    ['fewer points', { points: 0.5 }, { score: 0.5, maxScore: 0.5 }],
    ['another right choice', { correct: ['b'] }, { score: 0, maxScore: 1 }],
    ['no right choice', { correct: [] }, { score: null, maxScore: null }],
  ])("to a core widget earn the new version's points with %s", (_change, props, points) => {
    const state = answered(buildItem('quiz/quiz', ['a']));
    const next = over(state, [{ intro: text, quiz: [buildQuestion('quiz', props)] }]);
    expect(next).toMatchObject(points);
    expect(next.items).toMatchObject([{ answer: '["a"]', ...points }]);
  });

  test.each([
    ['declares fewer points', 'Slider', 2, { score: 1, maxScore: 2 }],
    ['declares more points', 'Slider', 10, { score: 5, maxScore: 10 }],
    ['declares none', 'Slider', undefined, { score: null, maxScore: null }],
    ['is of another type', 'Dial', 10, { score: null, maxScore: null }],
  ])('to a custom widget keep their share of the points where it %s', (_change, type, points, expected) => {
    const [slider] = answered(buildItem('quiz/slider', 1)).items;
    const state = buildState({ items: slider ? [{ ...slider, score: 2, maxScore: 4 }] : [] });
    const next = over(state, [{ quiz: [buildWidget(type, 'slider', { points, visibleIf: {} })] }]);
    expect(next).toMatchObject(expected);
    expect(next.items).toMatchObject([expected]);
  });

  test('to removed widgets count nothing, until a version has them again', () => {
    const state = answered(buildItem('quiz/quiz', ['a']));
    const without = buildOutline([{ intro: [buildQuestion('new', { points: 3 })] }]);
    const gone = carryOver(state, outline, otherVersionId, without);
    expect(gone).toMatchObject({ score: null, maxScore: 3, items: state.items });
    const again = buildOutline([{ quiz: [buildQuestion('quiz', { points: 2 })] }]);
    expect(carryOver(gone, without, versionId, again)).toMatchObject({ score: 2, maxScore: 2 });
  });

  test('to a widget that was not scored leave it open once it is scored', () => {
    const state = answered(buildItem('quiz/quiz', ['a']), buildItem('essay', ['a']));
    const to = { intro: [buildQuestion('quiz')], end: [buildQuestion('essay', { points: 3 })] };
    const next = over(state, [to]);
    expect(next).toMatchObject({ score: 1, maxScore: 4 });
    const again = play(buildOutline([to]), { items: [buildItem('end/essay', ['a'])] }, next, later);
    expect(again).toMatchObject({ score: 4, maxScore: 4 });
  });

  test('follow a widget that moved to another step', () => {
    const state = answered(buildItem('quiz/quiz', ['a']), buildItem('essay', 'x'));
    const next = over(state, [
      { intro: [buildQuestion('quiz')], end: [buildWidget('OpenResponse', 'essay')] },
    ]);
    expect(positionsOf(next)).toEqual(['intro/quiz', 'end/essay']);
    expect(next).toMatchObject({ score: 1, maxScore: 1 });
  });

  test('stay in their step where several steps have a widget with that id', () => {
    const state = answered(buildItem('quiz/quiz', ['a']));
    expect(
      positionsOf(over(state, [{ intro: [buildQuestion('quiz')], end: [buildQuestion('quiz')] }])),
    ).toEqual(['quiz/quiz']);
  });

  test('never replace another answer', () => {
    const [item] = answered(buildItem('quiz/quiz', ['a'])).items;
    if (item === undefined) throw new Error('no item');
    const to = [{ four: [buildQuestion('quiz')] }];
    expect(positionsOf(over(buildState({ items: [item] }), to))).toEqual(['four/quiz']);
    const items = [item, { ...item, stepId: 'four' }];
    expect(positionsOf(over(buildState({ items }), to))).toEqual(['quiz/quiz', 'four/quiz']);
  });

  test('to a removed question never become answers to another one with its id', () => {
    const twice = buildOutline([{ one: [buildQuestion('quiz')], two: [buildQuestion('quiz')] }]);
    const state = play(twice, { currentStepIndex: 1, items: [buildItem('quiz', ['a'])] });
    const next = carryOver(state, twice, otherVersionId, buildOutline([{ one: [buildQuestion('quiz')] }]));
    expect(positionsOf(next)).toEqual(['two/quiz']);
    expect(next).toMatchObject({ score: null, maxScore: 1 });
  });
});

test('a new version changes only its id, the steps and the points', () => {
  const state: ProgressState = {
    ...answered(buildItem('quiz/quiz', ['a'])),
    progressData: '{"a":1}',
    stepTimes: [1000, 2000, 3000],
    completedAt: now,
  };
  expect(over(state, [{ intro: text, end: text }])).toEqual({
    ...state,
    versionId: otherVersionId,
    sectionIndex: 0,
    stepIndex: 1,
    totalSteps: 2,
    score: null,
    maxScore: null,
    // Each follows its step; the one between them is gone.
    stepTimes: [1000, 3000],
  });
});

test('answers in a lesson that repeats an id in each step are carried over with a few reads of each step', () => {
  const ids = Array.from({ length: 2_000 }, (_, step) => `step-${step}`);
  const outlined = buildOutline([Object.fromEntries(ids.map((id) => [id, [buildQuestion('q')]]))]);
  const { lesson, reads } = countReads(outlined);
  const given = answered(buildItem('quiz/quiz', ['a'])).items;
  const items = ids.flatMap((stepId) => given.map((item) => ({ ...item, stepId, widgetId: 'q' })));
  const state = buildState({ status: 'in_progress', items });
  expect(carryOver(state, lesson, otherVersionId, lesson).items).toHaveLength(2_000);
  // With a search for each answer, there would be two million.
  expect(reads()).toBeLessThan(200_000);
});
