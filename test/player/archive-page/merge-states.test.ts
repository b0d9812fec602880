import { expect, test } from 'vitest';
import { mergeStates, readStoredState } from '../../../player/archive-page/merge-states.ts';
import type { StoredState } from '../../../player/archive-page/merge-states.ts';

const second = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000).toISOString();
const answer = (widgetId: string, value: string, seconds: number) => ({
  ...{ widgetId, widgetType: 'OpenResponse', stepId: 's1', answer: value },
  ...{ score: null, maxScore: null, answeredAt: second(seconds) },
});
const state = (fields: Partial<StoredState> = {}): StoredState => ({
  ...{ attempt: 1, sectionIndex: 0, stepIndex: 0, stepId: 's1', items: [], variableState: {} },
  progressData: { visited: ['s1'], completed: false, atEnd: false, tries: [] },
  ...fields,
});
const answersOf = ({ items }: StoredState) =>
  Object.fromEntries(items.map((item) => [item.widgetId, item.answer]));

test('the later of two answers to a question counts, whichever tab merges', () => {
  const mine = state({ items: [answer('q1', 'early', 1), answer('q2', 'late', 4)] });
  const theirs = state({ items: [answer('q1', 'late', 2), answer('q2', 'early', 3)] });
  for (const merged of [mergeStates(mine, theirs, mine), mergeStates(theirs, mine, theirs)]) {
    expect(answersOf(merged)).toEqual({ q1: 'late', q2: 'late' });
  }
});

test('a restart removes the whole previous attempt, whichever tab merges', () => {
  const before = state({ items: [answer('q1', 'old', 9)] });
  const restarted = state({ attempt: 2 });
  expect(mergeStates(restarted, before, before)).toEqual(restarted);
  expect(mergeStates(before, restarted, before)).toEqual(restarted);
});

test('a variable set by another tab stays, unless this tab has set it since', () => {
  const base = state({ variableState: { set: 'base', left: 'base' } });
  const mine = state({ variableState: { set: 'mine', left: 'base' } });
  const theirs = state({ variableState: { set: 'theirs', left: 'theirs' } });
  expect(mergeStates(mine, theirs, base).variableState).toEqual({ set: 'mine', left: 'theirs' });
});

test('stored state is read, and invalid state is ignored', () => {
  expect(readStoredState(state())).toEqual(state());
  const invalid = [{ attempt: 'x' }, { items: 1 }, { items: [null] }, { progressData: {} }];
  for (const value of [null, 1, 'x', [], ...invalid.map((fields) => ({ ...state(), ...fields }))])
    expect(readStoredState(value)).toBeUndefined();
});
