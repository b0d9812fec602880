import { describe, expect, test } from 'vitest';
import { readQuestion, scoreMultipleChoice } from '../../shared/lessons/scoring/multiple-choice.ts';
import { readAttempts } from '../../shared/lessons/scoring/scoring.ts';

const choices = ['a', 'b', 'c', 'd'].map((id) => ({ id, html: id.toUpperCase() }));
const one = { choices, correct: ['b'] };
const several = { choices, correct: ['a', 'c'], points: 2 };
const partly = { ...several, partialCredit: true };

describe('scoreMultipleChoice', () => {
  test.each([
    ['the right choice earns the default point', one, ['b'], 1, 1],
    ['a wrong choice earns nothing', one, ['a'], 0, 1],
    ['all right choices earn all points', several, ['c', 'a'], 2, 2],
    ['one of two right choices earns nothing', several, ['a'], 0, 2],
    ['partial credit: one of two right choices earns its share', partly, ['a'], 1, 2],
    ['partial credit: a wrong choice costs a share', partly, ['a', 'c', 'd'], 1, 2],
    ['partial credit: never below nothing', partly, ['b', 'd'], 0, 2],
    ['partial credit: an id that is no choice costs a share', partly, ['a', 'c', 'x'], 1, 2],
    ['partial credit must be true, not merely truthy', { ...several, partialCredit: 'yes' }, ['a'], 0, 2],
    ['shares are exact', { choices, correct: ['a', 'b', 'c'], partialCredit: true }, ['a', 'b'], 2 / 3, 1],
    ['points that are not a number count as 1', { ...one, points: '5' }, ['b'], 1, 1],
    [
      'a number matches the choice id with the same text',
      { choices: [{ id: 1 }], correct: ['1'] },
      [1],
      1,
      1,
    ],
    ['a right id without a choice is not required', { choices, correct: ['b', 'x'] }, ['b'], 1, 1],
    ['an answer of other types is no right choice', one, [null, {}, ['b']], 0, 1],
  ])('%s', (_rule, props, answer, score, maxScore) => {
    expect(scoreMultipleChoice(props, answer)).toEqual({ score, maxScore });
  });

  test.each([
    ['no right choice', { choices, correct: [] }],
    ['right choices without a matching choice', { choices, correct: ['x'] }],
    ['no points', { ...one, points: 0 }],
    ['no choices', { correct: ['a'] }],
    ['an empty id as the right choice', { choices: [{ id: '' }], correct: [''] }],
    ['an id of another type as the right choice', { choices: [{ id: true }], correct: [true] }],
    ['props that are not an object', 'b'],
    ['no props', undefined],
  ])('a question with %s is not scored', (_reason, props) => {
    expect(scoreMultipleChoice(props, ['b'])).toBeNull();
  });
});

describe('readQuestion', () => {
  test('keeps the first of two choices with one id, and skips those without', () => {
    const { choices: read } = readQuestion({
      choices: [
        { id: 'a', html: 'first', feedback: 'why' },
        { id: 'a', html: 'second' },
        { html: 'nameless' },
        null,
        'text',
        { id: 'b' },
      ],
    });
    expect(read).toMatchObject([
      { id: 'a', html: 'first', feedback: 'why' },
      { id: 'b', html: '', feedback: '' },
    ]);
  });

  test('returns each right choice once, in the order of the choices', () => {
    expect(readQuestion({ choices, correct: ['c', 'a', 'c'] }).correct).toEqual(['a', 'c']);
  });
});

test('only a whole number of at least 1 limits the attempts', () => {
  expect([1, 2].map(readAttempts)).toEqual([1, 2]);
  for (const none of [0, -1, 1.5, '2', null, true, {}, undefined]) expect(readAttempts(none)).toBe(Infinity);
});
