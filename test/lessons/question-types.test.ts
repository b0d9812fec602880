import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scoringOf } from '../../shared/lessons/core-widgets.ts';
import { questionFaults } from '../../shared/lessons/question-faults.ts';
import { acceptedIn } from '../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { readMatching } from '../../shared/lessons/scoring/matching.ts';
import { readTolerance } from '../../shared/lessons/scoring/numeric.ts';
import { readOrdering } from '../../shared/lessons/scoring/ordering.ts';
import { rightAnswers } from '../support/right-answers.ts';

const blanks = {
  text: '<p>[[a]] and [[b]], not [[c]]</p>',
  blanks: [
    { id: 'a', answers: ['Ebbe', 'Flut'] },
    { id: 'b', answers: ['l’été', 12] },
  ],
};
const both = { a: 'Ebbe', b: '12' };
const one = (answer: string, changes = {}) => ({
  text: '[[a]]',
  blanks: [{ id: 'a', answers: [answer] }],
  ...changes,
});
const pairs = {
  pairs: [
    { id: 'a', left: 'New moon', right: 'Spring tide' },
    { id: 'b', left: 'First quarter', right: 'Neap tide' },
    { id: 'c', left: 'Full moon', right: 'Spring tide' },
  ],
  distractors: [{ id: 'x', html: 'Storm tide' }],
};
const items = { items: ['a', 'b', 'c', 'd'].map((id) => ({ id, html: id.toUpperCase() })) };
const repeated = { items: ['Push', 'Wait', 'Push', 'Wait'].map((html, id) => ({ id, html })) };

const rows: [rule: string, type: string, props: object, answer: unknown, score: number, maxScore: number][] =
  [
    ['each gap is a point', 'FillInTheBlanks', blanks, { a: 'ebbe', b: "  L'ÉTÉ " }, 2, 2],
    ['alternatives count, also numbers', 'FillInTheBlanks', blanks, { a: 'FLUT', b: '12' }, 2, 2],
    ['one of two gaps earns its share', 'FillInTheBlanks', { ...blanks, points: 5 }, { a: 'Flut' }, 2.5, 5],
    ['all or nothing', 'FillInTheBlanks', { ...blanks, partialCredit: false }, { a: 'Flut' }, 0, 2],
    ['case, if wanted', 'FillInTheBlanks', one('Ebbe', { caseSensitive: true }), { a: 'ebbe' }, 0, 1],
    ['accents count', 'FillInTheBlanks', one('año'), { a: 'ano' }, 0, 1],
    ['decomposed letters are the same', 'FillInTheBlanks', one('é'), { a: 'e\u0301' }, 1, 1],
    ['a typo is wrong', 'FillInTheBlanks', one('tide'), { a: 'tyde' }, 0, 1],
    ['a typo, if allowed', 'FillInTheBlanks', one('tide', { allowTypos: true }), { a: 'tdie' }, 1, 1],
    [
      'two typos in a long word',
      'FillInTheBlanks',
      one('gravitation', { allowTypos: true }),
      { a: 'gravitasionn' },
      1,
      1,
    ],
    ['all right, all or nothing', 'FillInTheBlanks', { ...blanks, partialCredit: false }, both, 2, 2],
    ['each pair is a point', 'Matching', pairs, { a: 'a', b: 'b', c: 'a' }, 3, 3],
    ['a distractor is wrong', 'Matching', pairs, { a: 'a', b: 'x' }, 1, 3],
    ['all pairs or nothing', 'Matching', { ...pairs, partialCredit: false }, { a: 'a', b: 'b' }, 0, 3],
    ['the right order', 'Ordering', items, ['a', 'b', 'c', 'd'], 1, 1],
    ['the reverse', 'Ordering', items, ['d', 'c', 'b', 'a'], 0, 1],
    ['all in order or nothing', 'Ordering', { ...items, partialCredit: false }, ['b', 'c', 'd', 'a'], 0, 1],
    ['an order with an unknown item', 'Ordering', items, ['a', 'b', 'c', 'x'], 0, 1],
    ['an order with an item twice', 'Ordering', items, ['a', 'b', 'c', 'c'], 0, 1],
    ['equal texts are interchangeable', 'Ordering', repeated, ['2', '3', '0', '1'], 1, 1],
    ['a repeated step counts once', 'Ordering', { ...repeated, points: 3 }, ['1', '0', '3', '2'], 2, 3],
    ['a number', 'Numeric', { correct: 0.3 }, 0.1 + 0.2, 1, 1],
    ['a number within the tolerance', 'Numeric', { correct: 3.4, tolerance: 0.05 }, 3.45, 1, 1],
    ['a number outside the tolerance', 'Numeric', { correct: 3.4, tolerance: 0.05 }, 3.46, 0, 1],
    ['a percentage', 'Numeric', { correct: -200, tolerance: '5%', points: 2 }, -190, 2, 2],
    ['an invalid tolerance is none', 'Numeric', { correct: 1, tolerance: -5 }, 2, 0, 1],
    ['a number as text is wrong', 'Numeric', { correct: 3 }, '3', 0, 1],
    ['true', 'TrueFalse', { correct: true, points: 2 }, true, 2, 2],
    ['false is an answer', 'TrueFalse', { correct: false }, false, 1, 1],
    ['a text is neither', 'TrueFalse', { correct: true }, 'true', 0, 1],
  ];

test.each(rows)('%s (%s)', (_rule, type, props, answer, score, maxScore) => {
  const scoring = scoringOf(type);
  expect(scoring?.score(props, answer)).toEqual({ score, maxScore });
  // The outline of a version keeps the facts alone, as JSON.
  const facts: unknown = JSON.parse(JSON.stringify(scoring?.questionOf(props)));
  expect(facts).toMatchObject({ points: maxScore });
  expect(scoring?.score(facts, answer)).toEqual({ score, maxScore });
});

const types = ['FillInTheBlanks', 'Matching', 'Ordering', 'Numeric', 'TrueFalse'] as const;
const valid = {
  FillInTheBlanks: blanks,
  Matching: pairs,
  Ordering: items,
  Numeric: { correct: 1 },
  TrueFalse: { correct: true },
};

describe.each(types)('%s', (type) => {
  const scoring = scoringOf(type);
  const props = valid[type];

  test('its right answer earns all points, and valid props have no faults', () => {
    const score = scoring?.score(props, rightAnswers[type]?.(props));
    expect(score?.score).toBe(score?.maxScore);
    expect(questionFaults[type]?.({ ...props, text: '[[a]] [[b]]' })).toEqual([]);
  });

  test('is not scored without points', () => {
    const free = { ...props, points: 0 };
    expect(scoring?.questionOf(free)).toBeNull();
    expect(scoring?.score(free, rightAnswers[type]?.(free))).toBeNull();
  });

  test('any other value as an answer earns between nothing and all points', () => {
    const hostile = fc.constantFrom(
      null,
      '__proto__',
      { __proto__: { a: 'Ebbe' } },
      JSON.parse('{"__proto__": "a", "constructor": "a", "a": {"toString": 1}}'),
      Array.from({ length: 100_000 }, () => 'a'),
      'x'.repeat(1_000_000),
      { a: 'x'.repeat(1_000_000) },
      [[]],
      NaN,
      Infinity,
      1e308,
    );
    fc.assert(
      fc.property(fc.oneof(hostile, fc.jsonValue()), (answer) => {
        const { score = NaN, maxScore = NaN } = scoring?.score(props, answer) ?? {};
        expect(0 <= score && score <= maxScore).toBe(true);
      }),
    );
    for (const answer of [null, undefined, [], {}, '', NaN])
      expect(scoring?.score(props, answer)?.score).toBe(0);
  });

  test('any props are read without an error, and the facts earn what they do', () => {
    const part = fc.record(
      {
        id: fc.oneof(fc.constantFrom('a', 1, '', '__proto__'), fc.jsonValue()),
        ...{ html: fc.string(), left: fc.string(), right: fc.string() },
        answers: fc.oneof(fc.array(fc.oneof(fc.string(), fc.integer())), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const parts = fc.oneof(fc.array(fc.oneof(part, fc.jsonValue()), { maxLength: 5 }), fc.jsonValue());
    const anyProps = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          ...{ pairs: parts, items: parts, blanks: parts, distractors: parts },
          ...{ correct: fc.jsonValue(), tolerance: fc.jsonValue(), points: fc.jsonValue() },
          text: fc.constantFrom('[[a]][[1]]', '[[__proto__]]', 3),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(anyProps, (given) => {
        const facts = scoring?.questionOf(given) ?? null;
        const score = scoring?.score(given, rightAnswers[type]?.(given)) ?? null;
        expect(score).toEqual(facts && { score: facts.points, maxScore: facts.points });
        if (typeof given === 'object' && given !== null)
          questionFaults[type]?.(given as Record<string, unknown>);
      }),
    );
  });
});

test('accepted answers count only if a learner can write them', () => {
  const [long, signs] = ['a'.repeat(200), 'ﷺ'.repeat(11)];
  const answers = ['tide', ' ', '', null, true, 12, long, `${long}a`, signs, `${signs}ﷺ`];
  expect(acceptedIn(answers)).toEqual(['tide', '12', long, signs]);
});

test('matching leaves out incomplete and repeated parts, and shares an option among equal right sides', () => {
  const given = [
    { id: 1, left: 'L', right: ' R ' },
    { id: 1, left: 'again', right: 'S' },
    { id: 'b', left: 'no right side', right: ' ' },
    { left: 'no id', right: 'T' },
    { id: 'c', left: 'M', right: 'R' },
  ];
  const distractors = [
    { id: 'x', html: ' D ' },
    { id: 'x', html: 'the id of another' },
    { id: 1, html: 'the id of a pair' },
    { id: 'y', html: 'R' },
    { id: 'z', html: ' ' },
    { html: 'no id' },
  ];
  expect(readMatching({ pairs: given, distractors })).toEqual({
    items: [
      { id: '1', html: 'L', match: '1' },
      { id: 'c', html: 'M', match: '1' },
    ],
    options: [
      { id: '1', html: 'R', uses: 2 },
      { id: 'x', html: 'D', uses: 0 },
    ],
    points: 2,
    partialCredit: true,
  });
});

test('ordering leaves out incomplete and repeated items', () => {
  const given = [{ id: 'a', html: ' A ' }, { id: 'b', html: ' ' }, { html: 'C' }, { id: 'a', html: 'D' }];
  expect(readOrdering({ items: given }).items).toEqual([{ id: 'a', html: 'A' }]);
});

test('at most 100 pairs, distractors and items count', () => {
  const many = (prefix: string) =>
    Array.from({ length: 101 }, (_, index) => ({
      id: `${prefix}${index}`,
      html: `${prefix}${index}`,
      right: `${prefix}${index}`,
    }));
  const { items: matched, options } = readMatching({ pairs: many('p'), distractors: many('d') });
  expect([matched.length, options.length]).toEqual([100, 200]);
  expect(readOrdering({ items: many('i') }).items).toHaveLength(100);
});

test.each<[tolerance: unknown, read: number | undefined]>([
  [0, 0],
  [0.5, 0.5],
  [-1, undefined],
  [Infinity, undefined],
  ['5%', 10],
  [' 12.25 % ', 24.5],
  ['100%', 200],
  ['about 5%', undefined],
  ['5% or so', undefined],
  ['5', undefined],
  [null, undefined],
])('a tolerance of %j lets an answer be %j away from 200 or -200', (tolerance, read) => {
  expect(readTolerance(tolerance, 200)).toBe(read);
  expect(readTolerance(tolerance, -200)).toBe(read);
});

test('a text with a thousand accepted answers that nearly match is scored in little time', () => {
  const answers = Array.from({ length: 1_000 }, (_, index) => `${'ab'.repeat(90)}${index}`);
  const many = Array.from({ length: 1_000 }, (_, index) => ({ id: `g${index}`, answers }));
  const props = { text: many.map(({ id }) => `[[${id}]]`).join(' '), blanks: many, allowTypos: true };
  const facts = scoringOf('FillInTheBlanks')?.questionOf(props);
  // More gaps and answers than these never count, whatever an author writes.
  expect(facts).toMatchObject({ points: 100 });
  expect(JSON.stringify(facts).length).toBeLessThan(500_000);
});

test.each<[type: (typeof types)[number], props: Record<string, unknown>, faults: string[]]>([
  [
    'FillInTheBlanks',
    { text: '[[a]] [[b]] [[a]]', blanks: [{ id: 'a' }, { id: 'c', answers: ['x'] }, { answers: ['y'] }] },
    [
      'blank 3 has no id, so it is left out',
      'blank 1 needs answers: a list of texts of at most 200 characters, such as ["tide"]',
      'the gap [[b]] has no blank with this id',
      'the text has no gap [[c]] for the blank "c"',
      'the text has the gap [[a]] twice; only the first is shown',
    ],
  ],
  [
    'FillInTheBlanks',
    { text: 'x', distractors: ['y'] },
    [
      'the text has no gap such as [[1]], so learners cannot answer it',
      'distractors need "wordBank": true, or learners do not see them',
    ],
  ],
  [
    'Matching',
    {
      pairs: [
        { id: 'a', left: 'L', right: 'R' },
        { id: 'a', left: 'L' },
      ],
      distractors: [
        { id: 'a', html: 'x' },
        { id: 'y', html: 'R' },
      ],
    },
    [
      'pair 2 has the id "a" of an earlier pair, and is left out',
      'each pair needs a text right, or it is left out',
      'the distractor "a" has the id of a pair, and is left out',
      'distractor 2 is empty or the right side of a pair, and is left out',
    ],
  ],
  [
    'Ordering',
    { items: [{ id: 'a' }] },
    ['item 1 has no html, and is left out', 'needs at least two items, so learners cannot answer it'],
  ],
  [
    'Numeric',
    { correct: '3,4', tolerance: '5' },
    [
      'correct must be a number, not "3,4", so it is not scored',
      'tolerance must be a number from 0, or a percentage such as "5%", not "5"',
    ],
  ],
  ['TrueFalse', { correct: 'true' }, ['correct must be true or false, not "true", so it is not scored']],
])('%s: import warns authors of %j', (type, props, faults) => {
  expect(questionFaults[type]?.(props)).toEqual(faults);
});
