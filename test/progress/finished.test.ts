import fc from 'fast-check';
import { expect, test } from 'vitest';
import { carryOver } from '../../shared/progress/carry-over.ts';
import { initialProgress } from '../../shared/progress/merge.ts';
import { gradeOf as gradeOfPoints } from '../../shared/progress/points.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import {
  anyOutline,
  anyWrite,
  buildItem,
  buildOutline,
  buildQuestion,
  buildState,
  later,
  now,
  otherVersionId,
  outline,
  play,
  versionId,
} from './build-progress.ts';

/* The attempt that counts in gradebooks. */

const atEnd = { currentSectionIndex: 1 };
const right = [buildItem('quiz/quiz', ['a']), buildItem('quiz-2', ['a'])];
const apply = (state: ProgressState, write: Partial<ProgressWrite>, at = later) =>
  play(outline, write, state, at);
const finish = (state: ProgressState, items = right, at = now) =>
  apply(state, { ...atEnd, items, completed: true }, at);
const gradeOf = ({ finished }: ProgressState) => finished && gradeOfPoints(finished);

test('an attempt counts from its finish on, with its points', () => {
  const under = apply(buildState(), { ...atEnd, items: right });
  expect(under.finished).toBeNull();
  expect(finish(under).finished).toEqual({ at: now, score: 2, maxScore: 2, isCurrent: true });
});

test('a restart keeps the grade of the finished attempt until the next finish, even if that is worth less', () => {
  const finished = finish(buildState());
  const restarted = apply(finished, { restart: true });
  expect(restarted).toMatchObject({ score: null, finished: { at: now, score: 2, isCurrent: false } });
  const under = apply(restarted, { ...atEnd, items: [buildItem('quiz/quiz', ['b'])] });
  expect(under).toMatchObject({ score: 0, finished: { at: now, score: 2 } });
  expect(finish(under, [buildItem('quiz-2', ['a'])], later).finished).toEqual({
    at: later,
    score: 1,
    maxScore: 2,
    isCurrent: true,
  });
});

test('answers after the finish can raise the grade, and never lower it', () => {
  const half = finish(buildState(), [buildItem('quiz/quiz', ['a'])]);
  expect(gradeOf(half)).toBe(50);
  const raised = apply(half, { ...atEnd, items: [buildItem('quiz-2', ['a'])] });
  expect(raised.finished).toEqual({ at: now, score: 2, maxScore: 2, isCurrent: true });
  const late = apply(raised, { ...atEnd, items: [buildItem('quiz/quiz', ['b'])] });
  expect(late).toMatchObject({ score: 2, finished: raised.finished });
  expect(finish(late, [], later).finished).toEqual(raised.finished);
});

test('a question added in a new version does not lower the grade of a learner who has finished', () => {
  const questions = ['quiz', 'quiz-2', 'new'].map((id) => buildQuestion(id));
  const to = buildOutline([{ intro: questions, end: [] }]);
  const carried = carryOver(finish(buildState()), outline, otherVersionId, to);
  expect(carried).toMatchObject({ score: 2, maxScore: 3 });
  const turned = play(to, {}, carried, later);
  expect(gradeOf(turned)).toBe(100);
  expect(gradeOf(play(to, { items: [buildItem('new', ['b'])] }, turned, later))).toBe(100);
});

test('a finish that arrives after a later attempt began sets the status, and gives no grade', () => {
  const restarted = apply(buildState(), { attempt: 2 });
  const late = apply(restarted, { ...atEnd, attempt: 1, items: right, completed: true });
  expect(late).toMatchObject({ status: 'completed', attempt: 2, finished: null, items: [] });
});

test('only another finish lowers a grade', () => {
  const course = anyOutline.chain((any) =>
    fc.tuple(fc.constant(any), fc.array(anyWrite(any), { minLength: 1, maxLength: 8 })),
  );
  fc.assert(
    fc.property(course, ([any, writes]) => {
      let state = initialProgress(versionId, any, now);
      for (const [index, write] of writes.entries()) {
        const before = state;
        state = play(any, write, state, new Date(now.getTime() + index));
        if (state.finished !== null) expect(state.status).toBe('completed');
        const isAnother = state.finished?.at.getTime() !== before.finished?.at.getTime();
        expect(isAnother && !write.completed).toBe(false);
        if (!isAnother) expect(gradeOf(state) ?? 0).toBeGreaterThanOrEqual(gradeOf(before) ?? 0);
      }
    }),
  );
});
