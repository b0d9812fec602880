import { describe, expect, test } from 'vitest';

import { scaledTo100, shownPoints } from '../../shared/progress/points.ts';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import type { WrittenItem } from '../../shared/progress/write.ts';
import { buildItem, buildOutline, buildQuestion, buildWidget, play } from './build-progress.ts';

const hidden = { visibleIf: { variable: 'level' } };
const thirds = { correct: ['a', 'b', 'c'], partialCredit: true };

const slider = (id: string, points: unknown, props = {}) => buildWidget('Slider', id, { ...props, points });

/** Score and maximum of a lesson of one step, after these answers. */
const pointsOf = (blocks: Block[], items: WrittenItem[]) => {
  const outline = buildOutline([{ step: blocks }]);
  const { score, maxScore } = shownPoints(play(outline, { items }));
  return [score, maxScore];
};

describe('the points of a lesson', () => {
  test.each<[title: string, blocks: Block[], items: WrittenItem[], points: [number | null, number | null]]>([
    ['nothing to score', [buildWidget('Text', 't')], [], [null, null]],
    ['an unanswered question counts', [buildQuestion('q', { points: 3 })], [], [null, 3]],
    ['zero is a score', [buildQuestion('q', { points: 3 })], [buildItem('q', ['b'])], [0, 3]],
    ['a right answer', [buildQuestion('q', { points: 3 })], [buildItem('q', ['a'])], [3, 3]],
    ['a forged score for a question', [buildQuestion('q')], [buildItem('q', ['b'], 1000)], [0, 1]],
    [
      'a question without points',
      [buildQuestion('q', { points: 0 })],
      [buildItem('q', ['a'], 1)],
      [null, null],
    ],
    ['an unanswered custom widget', [slider('s', 10)], [], [null, 10]],
    ['a custom widget earns its share of the points', [slider('s', 10)], [buildItem('s', 1, 2, 5)], [4, 10]],
    ['a forged share earns no more than the points', [slider('s', 10)], [buildItem('s', 1, 1000)], [10, 10]],
    ['a share of nothing', [slider('s', 10)], [buildItem('s', 1, 0, 0)], [null, 10]],
    ['a custom widget under a condition', [slider('s', 10, hidden)], [], [null, null]],
    ['an answered one under a condition', [slider('s', 10, hidden)], [buildItem('s', 1, 1, 2)], [5, 10]],
    ...[-1, 1001, NaN, '10', [10], null, 0].map((points): [string, Block[], WrittenItem[], [null, null]] => [
      `a custom widget that declares ${JSON.stringify(points)}`,
      [slider('s', points)],
      [buildItem('s', 1, 5)],
      [null, null],
    ]),
    ['an unanswered question under a condition', [buildQuestion('q', hidden)], [], [null, null]],
    ['an answered question under a condition', [buildQuestion('q', hidden)], [buildItem('q', ['b'])], [0, 1]],
    [
      'thirds add up to a whole',
      ['q', 'r', 's'].map((id) => buildQuestion(id, thirds)),
      [buildItem('q', ['a']), buildItem('r', ['b', 'c']), buildItem('s', ['a', 'b', 'c'])],
      [2, 3],
    ],
    [
      'tenths do too',
      [slider('s', 0.1), slider('t', 0.2)],
      [buildItem('s', 1, 1), buildItem('t', 1, 1)],
      [0.3, 0.3],
    ],
  ])('%s', (_title, blocks, items, points) => {
    expect(pointsOf(blocks, items)).toEqual(points);
  });
});

describe('points on a scale of 100', () => {
  test.each<[score: number | null, maxScore: number | null, scaled: [number | null, number | null]]>([
    [null, null, [null, null]],
    [null, 4, [null, 100]],
    [0, 4, [0, 100]],
    [3, 4, [75, 100]],
    [1, 3, [33.3333, 100]],
    [4, 4, [100, 100]],
    [0, 0, [null, null]],
  ])('%j of %j', (score, maxScore, [scaledScore, scaledMaxScore]) => {
    expect(scaledTo100({ score, maxScore })).toEqual({ score: scaledScore, maxScore: scaledMaxScore });
  });
});
