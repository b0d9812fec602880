import { expect, test } from 'vitest';
import { scoreValuesOf } from '../../shared/lti/scores/publish-to-outbox.ts';
import { scoresUrl } from '../../shared/lti/scores/send.ts';

test('a lesson that was never finished has no score', () => {
  expect(scoreValuesOf({ finished: null })).toBeNull();
  expect(scoreValuesOf({})).toBeNull();
});

test.each([
  ['points are scaled to 100', 2, 3, 66.6667],
  ['zero is a score', 0, 3, 0],
  ['no answers to scored questions give zero', null, 3, 0],
  ['a lesson without scored questions gives full marks', null, null, 100],
  ['a maximum of 0 counts as no scored questions', 0, 0, 100],
])('finished lesson: %s', (_title, score, maxScore, scoreGiven) => {
  for (const isCurrent of [true, false]) {
    const finishedAt = new Date();
    const finished = { at: finishedAt, score, maxScore, isCurrent };
    expect(scoreValuesOf({ finished })).toEqual({ scoreGiven, scoreMaximum: 100, finishedAt });
  }
});

test.each([
  ['https://a.example/items/1', 'https://a.example/items/1/scores'],
  ['https://a.example/items/1/', 'https://a.example/items/1/scores'],
  ['https://a.example/items/1/lineitem?type_id=4', 'https://a.example/items/1/lineitem/scores?type_id=4'],
  ['https://a.example/?item=a/b', 'https://a.example/scores?item=a/b'],
])('the scores of %s are at %s', (lineItem, scores) => {
  expect(scoresUrl(lineItem)).toBe(scores);
});
