import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerItem,
  nextProgress,
  pointsOf,
  resumeProgress,
  savedState,
  startProgress,
  triesOf,
} from '../../player/lesson/lesson-progress.ts';
import type { LessonAction, LessonProgress } from '../../player/lesson/lesson-progress.ts';
import { resultsOf } from '../../player/lesson/question-results.ts';
import { readLesson } from '../../player/lesson/read-lesson.ts';
import { buildQuestion, buildWidget, contentOf, now } from '../progress/build-progress.ts';

const content = contentOf([
  { one: [buildQuestion('q1'), buildWidget('OpenResponse', 'o1')] },
  {
    two: [buildQuestion('q1', { points: 2, visibleIf: { variable: 'v', op: 'eq', value: 1 } })],
    three: [buildWidget('Slider', 's1', { points: 10 }), buildWidget('Text', 't1')],
  },
]);
content.lesson.variable_definitions = [{ name: 'v', type: 'number', initialValue: 0 }];
const lesson = readLesson(content);

function item(
  stepId: string,
  widgetId: string,
  answer: unknown,
  result?: { score: number; maxScore: number },
) {
  return answerItem(lesson, { stepId, widgetId }, answer, result, now);
}

function after(actions: LessonAction[]): LessonProgress {
  return actions.reduce((progress, action) => nextProgress(lesson, progress, action), startProgress(lesson));
}

const someAction = fc.oneof(
  fc.record({ kind: fc.constant('go' as const), index: fc.nat(2) }),
  fc.constant<LessonAction>({ kind: 'restart' }),
  fc
    .tuple(fc.constantFrom(['one', 'q1'], ['one', 'o1'], ['two', 'q1'], ['three', 's1']), fc.jsonValue())
    .map(([[stepId = '', widgetId = ''], answer]): LessonAction => {
      return { kind: 'answer', item: item(stepId, widgetId, answer) };
    }),
  fc
    .tuple(fc.string(), fc.jsonValue())
    .map(([name, value]): LessonAction => ({ kind: 'set', name, value: JSON.parse(JSON.stringify(value)) })),
);

describe('progress in the player', () => {
  it('resuming from the saved state restores exactly the same state, whatever the learner did', () => {
    fc.assert(
      fc.property(fc.array(someAction), fc.boolean(), (actions, finishes) => {
        const finish: LessonAction[] = finishes ? [{ kind: 'go', index: 2 }, { kind: 'finish' }] : [];
        const progress = after([...actions, ...finish]);
        const saved = savedState(lesson, progress);
        const stored: unknown = JSON.parse(JSON.stringify(saved));
        expect(stored).toEqual(saved);
        expect(resumeProgress(lesson, stored)).toEqual(progress);
      }),
    );
  });

  it('resuming accepts any state and always finds a step', () => {
    fc.assert(
      fc.property(fc.anything(), (state) => {
        expect(lesson.steps[resumeProgress(lesson, state).index]).toBeDefined();
      }),
    );
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(resumeProgress(lesson, cycle)).toEqual(startProgress(lesson));
  });

  it('resumes from a record of the session endpoint', () => {
    const record = {
      status: 'in_progress',
      currentSectionIndex: 1,
      currentStepIndex: 1,
      items: [{ ...item('one', 'q1', ['a']) }],
      variableState: { v: 7 },
      progressData: null,
    };
    const { index, items, variables } = resumeProgress(lesson, record);
    expect({ index, items: items.length, variables }).toEqual({ index: 2, items: 1, variables: { v: 7 } });
  });

  it('a deep link wins over the saved step, unless its step does not exist', () => {
    const state = savedState(lesson, after([{ kind: 'go', index: 2 }, { kind: 'finish' }]));
    expect(resumeProgress(lesson, state, 'two')).toMatchObject({ index: 1, atEnd: false, completed: true });
    expect(resumeProgress(lesson, state, 'gone')).toMatchObject({ index: 2, atEnd: true });
  });

  it('the end is not resumed where a newer version continues after it', () => {
    const state = { ...savedState(lesson, after([{ kind: 'go', index: 2 }, { kind: 'finish' }])) };
    expect(resumeProgress(lesson, { ...state, stepId: 'two' }).atEnd).toBe(false);
  });

  it('the player counts points as the server does', () => {
    expect(pointsOf(lesson, after([]))).toEqual({ score: null, maxScore: 11 });
    const answers: LessonAction[] = [
      { kind: 'answer', item: item('one', 'q1', ['b']) },
      { kind: 'answer', item: item('one', 'q1', ['a']) },
      { kind: 'answer', item: item('two', 'q1', ['a'], { score: 900, maxScore: 1000 }) },
      { kind: 'answer', item: item('three', 's1', 4, { score: 4, maxScore: 5 }) },
    ];
    const progress = after(answers);
    expect(pointsOf(lesson, progress)).toEqual({ score: 11, maxScore: 13 });
    expect(triesOf(progress, 'one', 'q1')).toBe(2);
    expect(triesOf(progress, 'two', 'q1')).toBe(1);
    expect(triesOf(progress, 'one', 'o1')).toBe(0);
  });

  it('an answer keeps the points it earned, even when the lesson scores it differently now', () => {
    const stored = { ...item('one', 'q1', ['b']), score: 1, maxScore: 1 };
    expect(pointsOf(lesson, resumeProgress(lesson, { items: [stored] }))).toEqual({ score: 1, maxScore: 11 });
  });

  it('rejects answers that no server would store', () => {
    expect(() => item('one', 'unknown', 1)).toThrow('Answers are kept for blocks that have an id');
    expect(() => item('one', 'o1', undefined)).toThrow('Not a JSON value');
    const results = [
      { score: -1, maxScore: 1 },
      { score: 2, maxScore: 1 },
      { score: NaN, maxScore: 1 },
      { score: 1, maxScore: 1001 },
    ];
    for (const result of results) {
      expect(() => item('three', 's1', 1, result)).toThrow('0 <= score <= maxScore <= 1000');
    }
  });

  it('lists open questions, except those that may be hidden', () => {
    const openSteps = (progress: LessonProgress) =>
      resultsOf(lesson, progress)
        .filter(({ questions }) => questions.some(({ result }) => result === 'open'))
        .map(({ step }) => step.id);
    expect(openSteps(after([]))).toEqual(['one', 'three']);
    const done = after([
      { kind: 'answer', item: item('one', 'q1', ['b']) },
      { kind: 'answer', item: item('one', 'o1', 'because') },
      { kind: 'answer', item: item('three', 's1', 3) },
    ]);
    expect(openSteps(done)).toEqual([]);
  });
});
