import { describe, expect, test } from 'vitest';

import { carryOver } from '../../shared/progress/carry-over.ts';
import { applyWrite, initialProgress } from '../../shared/progress/rules.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { Sections } from './build-progress.ts';
import {
  buildItem,
  buildOutline,
  buildQuestion,
  buildState,
  buildWidget,
  buildWrite,
  now,
  otherVersionId,
  outline,
  versionId,
} from './build-progress.ts';

const over = (state: ProgressState, sections: Sections) =>
  carryOver(state, outline, otherVersionId, buildOutline(sections));
const text = [buildWidget('Text', 'text')];
const answered = (...items: ReturnType<typeof buildItem>[]) =>
  applyWrite(buildState(), buildWrite({ currentSectionIndex: 1, items }), outline, now);
const placesOf = ({ items }: ProgressState) => items?.map(({ stepId, widgetId }) => `${stepId}/${widgetId}`);

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
  test('keep the points they earned, also when the right choice is another now', () => {
    const state = answered(buildItem('quiz', ['a']));
    const to = { intro: text, quiz: [buildQuestion('quiz', { correct: ['b'], points: 5 })] };
    expect(over(state, [to])).toMatchObject({ score: 1, maxScore: 1, items: state.items });
  });

  test('to widgets that are gone still count, beside the questions that are new', () => {
    const [quiz, slider] = answered(buildItem('quiz', ['a']), buildItem('slider', 1)).items ?? [];
    // As earlier releases stored it: with the points that the widget claimed.
    const claimed = slider && { ...slider, score: 2, maxScore: 4 };
    const state = buildState({ items: [quiz, claimed].filter((item) => item !== undefined) });
    const next = over(state, [{ intro: [buildQuestion('new', { points: 3 })] }]);
    expect(next).toMatchObject({ score: 3, maxScore: 8, items: state.items });
  });

  test('to what was not scored then leave a question open that is scored now', () => {
    const state = answered(buildItem('quiz', ['a']), buildItem('essay', ['a']));
    const to = { intro: [buildQuestion('quiz')], end: [buildQuestion('essay', { points: 3 })] };
    const next = over(state, [to]);
    expect(next).toMatchObject({ score: 1, maxScore: 4 });
    const again = applyWrite(
      next,
      buildWrite({ items: [buildItem('essay', ['a'])] }),
      buildOutline([to]),
      now,
    );
    expect(again).toMatchObject({ score: 4, maxScore: 4 });
  });

  test('follow a widget that moved to another step', () => {
    const state = answered(buildItem('quiz', ['a']), buildItem('essay', 'x'));
    const next = over(state, [
      { intro: [buildQuestion('quiz')], end: [buildWidget('OpenResponse', 'essay')] },
    ]);
    expect(placesOf(next)).toEqual(['intro/quiz', 'end/essay']);
    expect(next).toMatchObject({ score: 1, maxScore: 1 });
  });

  test('stay where a widget of that id stands in several steps', () => {
    const state = answered(buildItem('quiz', ['a']));
    expect(placesOf(over(state, [{ intro: [buildQuestion('quiz')], end: [buildQuestion('quiz')] }]))).toEqual(
      ['quiz/quiz'],
    );
  });

  test('never take the place of another answer', () => {
    const [item] = answered(buildItem('quiz', ['a'])).items ?? [];
    if (item === undefined) throw new Error('no item');
    const to = [{ four: [buildQuestion('quiz')] }];
    expect(placesOf(over(buildState({ items: [item] }), to))).toEqual(['four/quiz']);
    const items = [item, { ...item, stepId: 'four' }];
    expect(placesOf(over(buildState({ items }), to))).toEqual(['quiz/quiz', 'four/quiz']);
  });

  test('to a removed question never become answers to another one with its id', () => {
    const twice = buildOutline([{ one: [buildQuestion('quiz')], two: [buildQuestion('quiz')] }]);
    const state = applyWrite(
      initialProgress(versionId, twice, now),
      buildWrite({ currentStepIndex: 1, items: [buildItem('quiz', ['a'])] }),
      twice,
      now,
    );
    const next = carryOver(state, twice, otherVersionId, buildOutline([{ one: [buildQuestion('quiz')] }]));
    expect(placesOf(next)).toEqual(['two/quiz']);
    // What was answered still counts, and the question that was not is open.
    expect(next).toMatchObject({ score: 1, maxScore: 2 });
  });

  test('whose question was gone already stay where they were given', () => {
    const [item] = answered(buildItem('quiz', ['a'])).items ?? [];
    const state = buildState({ items: item ? [{ ...item, stepId: 'gone' }] : [] });
    expect(placesOf(over(state, [{ end: [buildQuestion('quiz')] }]))).toEqual(['gone/quiz']);
  });
});

test('a new version changes its id, the steps and the points, and nothing else', () => {
  const state: ProgressState = {
    ...answered(buildItem('quiz', ['a'])),
    progressData: '{"a":1}',
    completedAt: now,
  };
  expect(over(state, [{ intro: text, end: text }])).toEqual({
    ...state,
    versionId: otherVersionId,
    sectionIndex: 0,
    stepIndex: 1,
    totalSteps: 2,
    maxScore: 1,
  });
});
