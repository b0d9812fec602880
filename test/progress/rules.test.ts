import { describe, expect, test } from 'vitest';
import { LecternError } from '../../shared/platform/errors.ts';
import { applyWrite, attemptOrder, initialProgress } from '../../shared/progress/rules.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import {
  buildItem,
  buildOutline,
  buildQuestion,
  buildState,
  buildWidget,
  buildWrite,
  later,
  now,
  outline,
  play,
  versionId,
} from './build-progress.ts';

const apply = (state: ProgressState, write: Partial<ProgressWrite>) =>
  applyWrite(state, buildWrite(write), outline, later);
const atQuiz = { currentStepIndex: 1 };
const atEnd = { currentSectionIndex: 1 };

test('before the first write a learner is at the first step, has not started, and can gain all open points', () => {
  expect(initialProgress(versionId, outline, now)).toEqual({
    versionId,
    revision: 0,
    attempt: 1,
    status: 'not_started',
    score: null,
    maxScore: 2,
    sectionIndex: 0,
    stepIndex: 0,
    stepId: 'intro',
    totalSteps: 3,
    progressData: null,
    variableState: null,
    items: null,
    stepTimes: [],
    startedAt: null,
    completedAt: null,
    lastActivityAt: now,
    finished: null,
  });
});

describe('the active time on steps', () => {
  test('adds up by step, over attempts, to at most four hours', () => {
    const hours = 3_600_000;
    const [first, second] = [
      { intro: 1000.4, end: 3 * hours },
      { intro: 500, end: 3 * hours },
    ];
    const once = apply(buildState(), { stepTimes: first });
    expect(once.stepTimes).toEqual([1000, 0, 3 * hours]);
    expect(apply(once, { restart: true, stepTimes: second }).stepTimes).toEqual([1500, 0, 4 * hours]);
    expect(apply(once, {}).stepTimes).toEqual(once.stepTimes);
  });

  test('on an unknown step is rejected', () => {
    const fault = 'stepTimes has "__proto__", which is not a step of the version';
    const stepTimes = { ['__proto__']: 1 };
    expect(() => apply(buildState(), { stepTimes })).toThrow(new LecternError('INVALID_CONTENT', fault));
  });
});

describe('the status', () => {
  test.each<[title: string, write: Partial<ProgressWrite>, status: string]>([
    ['looking at the first step is no start', {}, 'not_started'],
    ['nor is clearing what is not there', { progressData: null, variableState: null }, 'not_started'],
    ['nor is a restart', { restart: true }, 'not_started'],
    ['another step starts', atQuiz, 'in_progress'],
    ['another section starts', atEnd, 'in_progress'],
    ['an answer starts', { items: [buildItem('slider', 1)] }, 'in_progress'],
    ['progressData starts', { progressData: '{}' }, 'in_progress'],
    ['variableState starts', { variableState: '{"a":1}' }, 'in_progress'],
    ['finishing completes at once', { ...atEnd, completed: true }, 'completed'],
  ])('%s', (_title, write, status) => {
    const next = apply(buildState(), write);
    expect(next.status).toBe(status);
    expect(next.startedAt).toEqual(status === 'not_started' ? null : later);
    expect(next.completedAt).toEqual(status === 'completed' ? later : null);
  });

  test.each<[title: string, write: Partial<ProgressWrite>]>([
    ['the first step', {}],
    ['a restart', { restart: true }],
    ['finishing again', { ...atEnd, completed: true }],
  ])('a completed lesson stays completed, with its times, after %s', (_title, write) => {
    const times = { startedAt: now, completedAt: now };
    expect(apply(buildState({ status: 'completed', ...times }), write)).toMatchObject({
      status: 'completed',
      ...times,
      lastActivityAt: later,
    });
  });
});

describe('a write', () => {
  test('moves the learner and increments the revision', () => {
    expect(apply(buildState({ revision: 7 }), atEnd)).toMatchObject({
      versionId,
      revision: 8,
      sectionIndex: 1,
      stepIndex: 0,
      stepId: 'end',
      lastActivityAt: later,
    });
  });

  test('keeps omitted progressData and variableState, and clears null ones', () => {
    const state = buildState({ progressData: '{"a":1}', variableState: '{"b":1}' });
    expect(apply(state, {})).toMatchObject({ progressData: '{"a":1}', variableState: '{"b":1}' });
    expect(apply(state, { progressData: null, variableState: '{"c":1}' })).toMatchObject({
      progressData: null,
      variableState: '{"c":1}',
    });
  });

  test('does not modify the previous state', () => {
    const state = buildState({ items: [] });
    const copy = structuredClone(state);
    apply(state, { ...atQuiz, items: [buildItem('quiz', ['a'])], progressData: '{}' });
    expect(state).toEqual(copy);
  });

  test.each<[title: string, write: Partial<ProgressWrite>, message: string]>([
    ['a section too far', { currentSectionIndex: 2 }, 'currentSectionIndex must be between 0 and 1, not 2'],
    [
      'a step too far',
      { currentSectionIndex: 1, currentStepIndex: 1 },
      'currentStepIndex must be between 0 and 0, not 1',
    ],
    [
      'completed before the last step',
      { ...atQuiz, completed: true },
      'completed is accepted on the last step only',
    ],
    [
      'an unknown widget',
      { items: [buildItem('quiz', 1), buildItem('gone', 1)] },
      'items[1].widgetId "gone" is not a widget of the version',
    ],
  ])('is rejected for %s', (_title, write, message) => {
    expect(() => apply(buildState(), write)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONTENT', message }),
    );
  });

  test('is rejected when answers and state together exceed 2 MiB', () => {
    const half = buildItem('slider', 'é'.repeat(1024 ** 2 / 2));
    const state = apply(buildState(), { items: [half] });
    expect(() => apply(state, { items: [{ ...half, widgetId: 'essay' }] })).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_TOO_LARGE',
        message: expect.stringMatching(
          /^Answers and state together may be at most 2097152 bytes, and would be /,
        ) as string,
      }),
    );
  });
});

describe('answers', () => {
  test('are kept with their widget, step, points and time', () => {
    const { items } = apply(buildState(), { items: [buildItem('quiz', ['a'])] });
    expect(items).toEqual([
      {
        widgetId: 'quiz',
        widgetType: 'MultipleChoice',
        stepId: 'quiz',
        answer: '["a"]',
        score: 1,
        maxScore: 1,
        answeredAt: later.toISOString(),
      },
    ]);
  });

  test('to one widget replace each other, in the position of the first', () => {
    const first = apply(buildState(), { items: [buildItem('quiz', ['b']), buildItem('slider', 1)] });
    const { items } = apply(first, {
      items: [buildItem('essay', 'x'), buildItem('quiz', ['c']), buildItem('quiz', ['a'])],
    });
    expect(items?.map(({ widgetId, answer }) => [widgetId, answer])).toEqual([
      ['quiz', '["a"]'],
      ['slider', '1'],
      ['essay', '"x"'],
    ]);
  });

  test.each<[title: string, attempts: number | undefined, answers: string[], kept: string, score: number]>([
    ['a right answer closes its question', undefined, ['b', 'a', 'b'], 'a', 1],
    ['without a limit, learners try until they are right', undefined, ['b', 'c', 'b', 'a'], 'a', 1],
    ['the last try closes it: right answers that come after it are too late', 2, ['b', 'c', 'a'], 'c', 0],
    ['a right last try counts', 2, ['b', 'a'], 'a', 1],
  ])('%s', (_title, attempts, answers, kept, score) => {
    const limited = buildOutline([{ one: [buildQuestion('q', { ...(attempts && { attempts }) })] }]);
    const writes = answers.map((answer) => ({ items: [buildItem('q', [answer])] }));
    const after = writes.reduce<ProgressState | undefined>(
      (state, write) => play(limited, write, state),
      undefined,
    );
    expect(after).toMatchObject({ score, items: [{ answer: JSON.stringify([kept]), score }] });
    // A restart opens it again.
    const again = play(limited, { restart: true, items: [buildItem('q', ['b'])] }, after);
    expect(again).toMatchObject({ score: 0, items: [{ answer: '["b"]' }] });
    expect(again.items?.[0]).not.toHaveProperty('tries');
  });

  test('that were tried without a connection count as the player reports: the last one closes its question', () => {
    const limited = buildOutline([{ one: [buildQuestion('q', { attempts: 2 })] }]);
    const closed = play(limited, { items: [{ ...buildItem('q', ['c']), tries: 2 }] });
    const again = play(limited, { items: [buildItem('q', ['a'])] }, closed);
    expect(again).toMatchObject({ score: 0, items: [{ answer: '["c"]', tries: 2 }] });
    // A report never takes tries away.
    const first = play(limited, { items: [buildItem('q', ['b'])] });
    const second = play(limited, { items: [{ ...buildItem('q', ['c']), tries: 1 }] }, first);
    expect(second).toMatchObject({ items: [{ answer: '["c"]', tries: 2 }] });
  });

  test.each<[empty: unknown]>([[[]], [{}], [''], [null]])('that are empty use no try: %j', (empty) => {
    const limited = buildOutline([{ one: [buildQuestion('q', { attempts: 1 })] }]);
    const skipped = play(limited, { items: [buildItem('q', empty)] });
    expect(skipped).toMatchObject({ score: 0, items: [{ tries: 0 }] });
    expect(play(limited, { items: [buildItem('q', ['a'])] }, skipped)).toMatchObject({ score: 1 });
  });

  test.each<[answer: unknown]>([[{ a: 'x' }], [['x']], ['"'], [0], [false]])(
    'that are not empty use a try: %j',
    (answer) => {
      const limited = buildOutline([{ one: [buildQuestion('q', { attempts: 1 })] }]);
      const tried = play(limited, { items: [buildItem('q', answer)] });
      expect(play(limited, { items: [buildItem('q', ['a'])] }, tried)).toMatchObject({ score: 0 });
    },
  );

  test('that are the same as before use no other try', () => {
    const limited = buildOutline([{ one: [buildQuestion('q', { attempts: 2 })] }]);
    const write = { items: [buildItem('q', ['b'])] };
    const repeated = play(limited, write, play(limited, write));
    expect(play(limited, { items: [buildItem('q', ['a'])] }, repeated)).toMatchObject({ score: 1 });
  });

  test("belong to the widget in the learner's step, or else to the first with that id", () => {
    const twice = buildOutline([
      { one: [buildWidget('Slider', 'same')], two: [buildWidget('Poll', 'same')], three: [] },
    ]);
    const answered = (currentStepIndex: number) =>
      play(twice, { currentStepIndex, items: [buildItem('same', 1)] }).items?.[0];
    expect(answered(0)).toMatchObject({ stepId: 'one', widgetType: 'Slider' });
    expect(answered(1)).toMatchObject({ stepId: 'two', widgetType: 'Poll' });
    expect(answered(2)).toMatchObject({ stepId: 'one', widgetType: 'Slider' });
  });

  test('to widgets with the same id in two steps are separate', () => {
    const twice = buildOutline([{ one: [buildQuestion('same')], two: [buildQuestion('same')] }]);
    const first = play(twice, { items: [buildItem('same', ['a'])] });
    const second = play(twice, { ...atQuiz, items: [buildItem('same', ['b'])] }, first);
    expect(second).toMatchObject({ score: 1, maxScore: 2 });
    expect(second.items).toHaveLength(2);
  });
});

test.each<[title: string, write: Partial<ProgressWrite>, order: string]>([
  ['no attempt', {}, 'current'],
  ['no attempt, but a restart', { restart: true }, 'current'],
  ['the attempt of the record', { attempt: 3 }, 'current'],
  ['an earlier attempt', { attempt: 2 }, 'earlier'],
  ['a later attempt', { attempt: 4 }, 'later'],
  ['the attempt that a restart begins', { attempt: 4, restart: true }, 'current'],
  ['the attempt after that', { attempt: 5, restart: true }, 'later'],
  ['an earlier attempt that was to restart', { attempt: 2, restart: true }, 'earlier'],
])('a write belongs to the earlier, current or later attempt: %s', (_title, write, order) => {
  expect(attemptOrder({ attempt: 3 }, buildWrite(write))).toBe(order);
});

describe('a restart', () => {
  const played = apply(buildState({ status: 'completed', startedAt: now, completedAt: now }), {
    ...atEnd,
    items: [buildItem('quiz', ['a'])],
    progressData: '{"a":1}',
    variableState: '{"b":1}',
  });

  test('clears answers, points and state', () => {
    expect(apply(played, { restart: true })).toMatchObject({
      revision: played.revision + 1,
      attempt: played.attempt + 1,
      sectionIndex: 0,
      stepIndex: 0,
      stepId: 'intro',
      items: null,
      score: null,
      maxScore: 2,
      progressData: null,
      variableState: null,
    });
  });

  test('comes before the rest of the write', () => {
    const next = apply(played, {
      restart: true,
      ...atQuiz,
      items: [buildItem('slider', 3)],
      variableState: '{}',
    });
    expect(next).toMatchObject({ stepId: 'quiz', progressData: null, variableState: '{}' });
    expect(next.items?.map(({ widgetId }) => widgetId)).toEqual(['slider']);
  });
});
