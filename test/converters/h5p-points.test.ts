import { expect, test } from 'vitest';
import { scoringOf } from '../../shared/lessons/core-widgets.ts';
import { convertH5p } from './h5p-file.ts';

const choices = (...rights: boolean[]) =>
  rights.map((correct, index) => ({ text: `Choice ${index}`, correct }));
const some = (...ids: string[]) => ids;

/** An answer, and the points of H5P for it out of the maximum. */
type Scored = [unknown, number];

/** H5P's rules: https://h5p.org/documentation/api/H5P.Question.html and the sources of each type. */
test.each<[string, { type: string; params: object }, number, Scored[]]>([
  [
    'MultiChoice, a point for each right choice: right less wrong, never below zero',
    {
      type: 'MultiChoice',
      params: { answers: choices(true, true, true, false, false), behaviour: { singlePoint: false } },
    },
    3,
    [
      [[], 0],
      [some('a'), 1],
      [some('a', 'b'), 2],
      [some('a', 'b', 'c'), 3],
      [some('a', 'd'), 0],
      [some('a', 'b', 'd'), 1],
      [some('a', 'b', 'c', 'd', 'e'), 1],
      [some('d', 'e'), 0],
      [some('a', 'd', 'e'), 0],
    ],
  ],
  [
    'MultiChoice, one point for all',
    {
      type: 'MultiChoice',
      params: { answers: choices(true, true, false), behaviour: { singlePoint: true } },
    },
    1,
    [
      [some('a', 'b'), 1],
      [some('a'), 0],
      [some('a', 'b', 'c'), 0],
      [[], 0],
    ],
  ],
  [
    'MultiChoice with checkboxes and one right choice',
    {
      type: 'MultiChoice',
      params: { answers: choices(true, false), behaviour: { type: 'multi', singlePoint: false } },
    },
    1,
    [
      [some('a'), 1],
      [some('a', 'b'), 0],
      [some('b'), 0],
    ],
  ],
  [
    'TrueFalse',
    { type: 'TrueFalse', params: { question: 'Q', correct: 'false' } },
    1,
    [
      [false, 1],
      [true, 0],
    ],
  ],
  [
    'SingleChoiceSet',
    { type: 'SingleChoiceSet', params: { choices: [{ question: 'Q', answers: ['x', 'y', 'z'] }] } },
    1,
    [
      [some('a'), 1],
      [some('b'), 0],
    ],
  ],
  [
    'Blanks that respect case',
    { type: 'Blanks', params: { questions: ['*Moon/Luna* and *Sun*'], behaviour: { caseSensitive: true } } },
    2,
    [
      [{ 1: 'Moon', 2: 'Sun' }, 2],
      [{ 1: 'Luna', 2: ' Sun ' }, 2],
      [{ 1: 'moon', 2: 'Sun' }, 1],
      [{ 1: 'Mars', 2: 'sun' }, 0],
      [{ 2: 'Sun' }, 1],
      [{}, 0],
    ],
  ],
  [
    'Blanks that forgive spelling: one error from 4 letters, two from 10',
    {
      type: 'Blanks',
      params: {
        questions: ['*sun* *moon* *gravitation*'],
        behaviour: { caseSensitive: false, acceptSpellingErrors: true },
      },
    },
    3,
    [
      [{ 1: 'SUN', 2: 'mon', 3: 'gravitatoin' }, 3],
      [{ 1: 'sum', 2: 'moom', 3: 'grvitatin' }, 2],
      [{ 1: 'sun', 2: 'mn', 3: 'gravtaio' }, 1],
      [{ 1: 'sn', 2: 'omon', 3: 'gravity' }, 1],
    ],
  ],
  [
    'DragText',
    {
      type: 'DragText',
      params: { textField: 'The *Moon* and the *Sun* and the *Moon*', distractors: '*moon*' },
    },
    3,
    [
      [{ 1: 'Moon', 2: 'Sun', 3: 'Moon' }, 3],
      [{ 1: 'Sun', 2: 'Moon', 3: 'Moon' }, 1],
      [{ 1: 'moon', 2: 'Sun' }, 1],
    ],
  ],
  [
    'MarkTheWords: right less wrong, never below zero',
    { type: 'MarkTheWords', params: { textField: '*Moon* and *Sun* pull' } },
    2,
    [
      [some('a', 'c'), 2],
      [some('a', 'b'), 0],
      [some('a', 'b', 'c'), 1],
      [some('b', 'd'), 0],
      [[], 0],
    ],
  ],
])('H5P gives the same points: %s', async (_what, { type, params }, max, answers) => {
  const { content } = await convertH5p({ type, params });
  const block = content.sections[0]?.steps[0]?.content.content[0];
  const scoring = scoringOf(block?.type ?? '');
  const scores = answers.map(([answer]) => scoring?.score(block?.props, answer));
  expect(scores.map((score) => score?.score)).toEqual(answers.map(([, points]) => points));
  expect(scores.map((score) => score?.maxScore)).toEqual(answers.map(() => max));
});
