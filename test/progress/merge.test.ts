import { describe, expect, test } from 'vitest';
import { LecternError } from '../../shared/platform/errors.ts';
import { maxAgeMs } from '../../shared/progress/facts.ts';
import { initialProgress } from '../../shared/progress/merge.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import {
  buildItem,
  buildOutline,
  buildQuestion,
  buildState,
  buildWidget,
  countReads,
  later,
  now,
  outline,
  play,
  versionId,
} from './build-progress.ts';

const apply = (state: ProgressState, write: Partial<ProgressWrite>) => play(outline, write, state, later);
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
    positionOrder: null,
    progressData: null,
    progressDataOrder: null,
    variables: [],
    items: [],
    stepTimes: [],
    userAttributes: null,
    startedAt: null,
    completedAt: null,
    lastActivityAt: now,
    finished: null,
    recentWriteIds: [],
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
    const repeated = { stepTimes: first, writeId: once.recentWriteIds[0] };
    expect(apply(once, repeated)).toBe(once);
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
    ['nor is clearing what is not there', { progressData: null }, 'not_started'],
    ['a restart starts', { restart: true }, 'in_progress'],
    ['another step starts', atQuiz, 'in_progress'],
    ['another section starts', atEnd, 'in_progress'],
    ['an answer starts', { items: [buildItem('quiz/slider', 1)] }, 'in_progress'],
    ['progressData starts', { progressData: '{}' }, 'in_progress'],
    ['a variable starts', { variables: [{ name: 'a', value: '1' }] }, 'in_progress'],
    ['finishing completes at once', { ...atEnd, completed: true }, 'completed'],
    [
      'also before the last step: learners finish offline, and then look back',
      { completed: true },
      'completed',
    ],
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

  test('keeps omitted progressData and variables, clears progressData that is null, and keeps the sequence', () => {
    const variables = (...pairs: [string, string][]) => pairs.map(([name, value]) => ({ name, value }));
    const state = apply(buildState(), {
      progressData: '{"a":1}',
      variables: variables(['b', '1'], ['1', '2']),
    });
    expect(apply(state, {})).toMatchObject({ progressData: '{"a":1}', variables: state.variables });
    expect(apply(state, { progressData: null, variables: variables(['c', '3'], ['b', '4']) })).toMatchObject({
      progressData: null,
      variables: variables(['b', '4'], ['1', '2'], ['c', '3']),
    });
  });

  test('loses to newer facts, and one from the future to all', () => {
    const state = apply(buildState(), { ...atQuiz, ageMs: 1000, progressData: '{"of":"one"}' });
    expect(apply(state, { ageMs: 2000, progressData: '{"of":"older"}' })).toBe(state);
    expect(apply(state, { ageMs: -1, progressData: '{"of":"future"}' })).toBe(state);
    const newer = apply(state, { progressData: '{"of":"newer"}' });
    expect(newer).toMatchObject({ stepId: 'intro', progressData: '{"of":"newer"}' });
    const oldest = apply(buildState(), { ageMs: 2 * maxAgeMs });
    expect(oldest.positionOrder?.at).toEqual(new Date(later.getTime() - maxAgeMs));
  });

  test.each<[title: string, write: Partial<ProgressWrite>, message: string]>([
    ['a section too far', { currentSectionIndex: 2 }, 'currentSectionIndex must be between 0 and 1, not 2'],
    [
      'a step too far',
      { currentSectionIndex: 1, currentStepIndex: 1 },
      'currentStepIndex must be between 0 and 0, not 1',
    ],
    [
      'an unknown widget',
      { ...atQuiz, items: [buildItem('quiz', 1), buildItem('gone', 1)] },
      'items[1].widgetId "gone" is not a widget of the step "quiz"',
    ],
    [
      'a widget of another step',
      { items: [buildItem('quiz', 1)] },
      'items[0].widgetId "quiz" is not a widget of the step "intro"',
    ],
    [
      'an unknown step',
      { items: [buildItem('gone/quiz', 1)] },
      'items[0].stepId "gone" is not a step of the version',
    ],
  ])('is rejected for %s', (_title, write, message) => {
    expect(() => apply(buildState(), write)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONTENT', message }),
    );
  });

  test('is rejected for an answer over 64 KiB', () => {
    const answer = 'é'.repeat(32 * 1024 - 1);
    expect(apply(buildState(), { items: [buildItem('quiz/slider', answer)] }).items).toHaveLength(1);
    expect(() => apply(buildState(), { items: [buildItem('quiz/slider', `${answer}x`)] })).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_TOO_LARGE',
        message: 'items[0].answer may be at most 65536 bytes, and is 65537',
      }),
    );
  });

  test('is rejected when the record would exceed 1 MiB, however small its variables are', () => {
    const state = apply(buildState(), { progressData: JSON.stringify('é'.repeat(1024 ** 2 / 2 - 200)) });
    const variables = (count: number) =>
      Array.from({ length: count }, (_, name) => ({ name: `${name}`, value: '1' }));
    expect(apply(state, { variables: variables(2) }).variables).toHaveLength(2);
    expect(() => apply(state, { variables: variables(4) })).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_TOO_LARGE',
        message: 'Answers and state together may be at most 1048576 bytes, and would be 1048698',
      }),
    );
  });
});

describe('answers', () => {
  test('are kept with their widget, step, points and time', () => {
    const { items } = apply(buildState(), { ...atQuiz, items: [buildItem('quiz', ['a'])] });
    expect(items).toEqual([
      {
        widgetId: 'quiz',
        widgetType: 'MultipleChoice',
        stepId: 'quiz',
        answer: '["a"]',
        score: 1,
        maxScore: 1,
        tries: 1,
        answeredAt: later,
        writeId: expect.any(String) as string,
      },
    ]);
  });

  test('to one widget replace each other, in the position of the first', () => {
    const first = apply(buildState(), {
      items: [buildItem('quiz/quiz', ['b']), buildItem('quiz/slider', 1)],
      ageMs: 1000,
    });
    const { items } = apply(first, { items: [buildItem('end/essay', 'x'), buildItem('quiz/quiz', ['a'])] });
    expect(items.map(({ widgetId, answer }) => [widgetId, answer])).toEqual([
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
    const writes = answers.map((answer, at) => ({
      items: [buildItem('q', [answer])],
      ageMs: 9000 - at * 1000,
    }));
    const after = writes.reduce<ProgressState | undefined>(
      (state, write) => play(limited, write, state),
      undefined,
    );
    expect(after).toMatchObject({ score, items: [{ answer: JSON.stringify([kept]), score }] });
    // A restart opens it again.
    const again = play(limited, { restart: true, items: [buildItem('q', ['b'])] }, after);
    expect(again).toMatchObject({ score: 0, items: [{ answer: '["b"]' }] });
    expect(again.items[0]).toMatchObject({ tries: 1 });
  });

  test('that were tried without a connection count as the player reports: the last one closes its question', () => {
    const limited = buildOutline([{ one: [buildQuestion('q', { attempts: 2 })] }]);
    const closed = play(limited, { items: [{ ...buildItem('q', ['c']), tries: 2 }] });
    const again = play(limited, { items: [buildItem('q', ['a'])] }, closed);
    expect(again).toMatchObject({ score: 0, items: [{ answer: '["c"]', tries: 2 }] });
    // A report never takes tries away.
    const first = play(limited, { items: [buildItem('q', ['b'])], ageMs: 1000 });
    const second = play(limited, { items: [{ ...buildItem('q', ['c']), tries: 1 }] }, first);
    expect(second).toMatchObject({ items: [{ answer: '["c"]', tries: 2 }] });
    // An older answer from another device counts its tries, too.
    const older = play(limited, { items: [{ ...buildItem('q', ['c']), tries: 2 }], ageMs: 2000 }, first);
    expect(older).toMatchObject({ items: [{ answer: '["b"]', tries: 2 }] });
  });

  test.each<[empty: unknown]>([[[]], [{}], [''], [null]])('that are empty use no try: %j', (empty) => {
    const limited = buildOutline([{ one: [buildQuestion('q', { attempts: 1 })] }]);
    const skipped = play(limited, { items: [buildItem('q', empty)], ageMs: 1000 });
    expect(skipped).toMatchObject({ score: 0, items: [{ tries: 0 }] });
    expect(play(limited, { items: [buildItem('q', ['a'])] }, skipped)).toMatchObject({ score: 1 });
  });

  test('that are the same as before use no other try', () => {
    const limited = buildOutline([{ one: [buildQuestion('q', { attempts: 2 })] }]);
    const write = { items: [buildItem('q', ['b'])] };
    const repeated = play(limited, write, play(limited, write));
    expect(play(limited, { items: [buildItem('q', ['a'])] }, repeated)).toMatchObject({ score: 1 });
  });

  test("belong to the learner's step, or to the one that they name", () => {
    const twice = buildOutline([
      { one: [buildWidget('Slider', 'same')], two: [buildWidget('Poll', 'same')] },
    ]);
    const answered = (widget: string, currentStepIndex: number) =>
      play(twice, { currentStepIndex, items: [buildItem(widget, 1)] }).items[0];
    expect(answered('same', 0)).toMatchObject({ stepId: 'one', widgetType: 'Slider' });
    expect(answered('same', 1)).toMatchObject({ stepId: 'two', widgetType: 'Poll' });
    expect(answered('one/same', 1)).toMatchObject({ stepId: 'one', widgetType: 'Slider' });
  });

  test('to widgets with the same id in two steps are separate', () => {
    const twice = buildOutline([{ one: [buildQuestion('same')], two: [buildQuestion('same')] }]);
    const first = play(twice, { items: [buildItem('same', ['a'])] });
    const second = play(twice, { ...atQuiz, items: [buildItem('same', ['b'])] }, first);
    expect(second).toMatchObject({ score: 1, maxScore: 2 });
    expect(second.items).toHaveLength(2);
  });
});

describe('a restart', () => {
  const played = apply(buildState({ status: 'completed', startedAt: now, completedAt: now }), {
    ...atEnd,
    items: [buildItem('quiz/quiz', ['a'])],
    progressData: '{"a":1}',
    variables: [{ name: 'b', value: '1' }],
  });

  test('clears answers, points and state', () => {
    expect(apply(played, { restart: true })).toMatchObject({
      revision: played.revision + 1,
      attempt: played.attempt + 1,
      sectionIndex: 0,
      stepIndex: 0,
      stepId: 'intro',
      items: [],
      score: null,
      maxScore: 2,
      progressData: null,
      variables: [],
    });
  });

  test('comes before the rest of the write', () => {
    const next = apply(played, {
      restart: true,
      ...atQuiz,
      items: [buildItem('slider', 3)],
      variables: [{ name: 'c', value: '1' }],
    });
    expect(next).toMatchObject({ stepId: 'quiz', progressData: null, variables: [{ name: 'c' }] });
    expect(next.items.map(({ widgetId }) => widgetId)).toEqual(['slider']);
  });

  test('may begin any later attempt, also without the flag', () => {
    const next = apply(played, { attempt: 7, items: [buildItem('quiz/slider', 3)] });
    expect(next).toMatchObject({ attempt: 7, items: [{ widgetId: 'slider' }], progressData: null });
  });
});

test('a write of many answers reads each question of a step a few times only', () => {
  const ids = Array.from({ length: 2_000 }, (_, index) => `question-${index}`);
  const { lesson, reads } = countReads(buildOutline([{ only: ids.map((id) => buildQuestion(id)) }]));
  const items = ids.map((id) => buildItem(id, ['a'], 1)).toReversed();
  expect(play(lesson, { items }).items).toHaveLength(2_000);
  // With a search for each answer, there would be two million.
  expect(reads()).toBeLessThan(200_000);
});
