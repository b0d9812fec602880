import { expect, test } from 'vitest';
import type { ConvertedMedia } from '../../shared/converters/media.ts';
import { parseQti, readItem } from '../../shared/converters/qti/read-item.ts';
import { writeQti } from '../../shared/converters/qti/write-qti.ts';
import { scoringOf } from '../../shared/lessons/core-widgets.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';

const choices = ['x y', 'é', 'c'].map((id) => ({
  id,
  html: `<p>${id} &amp; <img src="../media/a.png"></p>`,
}));
const items = ['one', 'two', 'three', 'four'].map((html, index) => ({ id: `i${index}`, html }));
const pairs = ['a', 'b', 'c'].map((id) => ({
  id,
  left: `<b>${id}</b>`,
  right: id === 'c' ? 'same' : `right ${id}`,
}));
const blanks = [
  { id: 'g1', answers: ['spring', 'syzygy'] },
  { id: 'g2', answers: ['neap'] },
];

/** All subsets, and all orders, of ids. */
const subsets = (ids: string[]) =>
  Array.from({ length: 2 ** ids.length }, (_, set) => ids.filter((_id, index) => (set & (2 ** index)) !== 0));
const orders = (ids: string[]): string[][] =>
  ids.length < 2
    ? [ids]
    : ids.flatMap((id) => orders(ids.filter((one) => one !== id)).map((rest) => [id, ...rest]));

type Case = [
  type: string,
  props: Record<string, unknown>,
  answers: [lectern: unknown, qti: Record<string, string[]>][],
];

const choiceIds = choices.map(({ id }) => id);
const picked = subsets(choiceIds).map((ids): Case[2][number] => [
  ids,
  { RESPONSE: ids.map((id) => `C${choiceIds.indexOf(id) + 1}`) },
]);
const ordered = orders(items.map(({ id }) => id)).map((ids): Case[2][number] => [
  ids,
  { RESPONSE: ids.map((id) => `C${Number(id.slice(1)) + 1}`) },
]);
const targets = ['a', 'b', 'c'];
const matched = targets.flatMap((a) =>
  targets.flatMap((b) =>
    targets.map((c): Case[2][number] => [
      { a, b, c },
      { RESPONSE: [a, b, c].map((target, index) => `C${index + 1} T${targets.indexOf(target) + 1}`) },
    ]),
  ),
);
const typed = ['spring', 'SYZYGY', 'neap', 'ebb'].flatMap((first) =>
  ['neap', 'spring', ''].map((second): Case[2][number] => [
    { g1: first, g2: second },
    { RESPONSE: [first], RESPONSE2: second === '' ? [] : [second] },
  ]),
);
const bank = ['ebb', 'neap', 'spring'];
const chosen = bank.flatMap((first, at) =>
  bank.map((second, index): Case[2][number] => [
    { g1: first, g2: second },
    { RESPONSE: [`C${at + 1}`], RESPONSE2: [`C${index + 1}`] },
  ]),
);
const text = 'A [[g1]] tide & a [[g2]] one';

const cases: Case[] = [
  [
    'MultipleChoice',
    { choices, correct: ['é'], points: 3 },
    picked.filter(([ids]) => (ids as string[]).length < 2),
  ],
  ['MultipleChoice', { choices, correct: ['x y', 'c'], points: 2 }, picked],
  [
    'MultipleChoice',
    { choices, correct: ['x y', 'c'], points: 5, partialCredit: true, multiple: true },
    picked,
  ],
  [
    'TrueFalse',
    { correct: false },
    [
      [true, { RESPONSE: ['C1'] }],
      [false, { RESPONSE: ['C2'] }],
    ],
  ],
  [
    'Numeric',
    { correct: 0.3, tolerance: 0.1, points: 2 },
    [0.2, 0.19, 0.4, 0.41, 0.3, -0.3].map((number) => [number, { RESPONSE: [String(number)] }]),
  ],
  ['FillInTheBlanks', { text, blanks, points: 3 }, typed],
  ['FillInTheBlanks', { text, blanks, partialCredit: false, caseSensitive: true }, typed],
  ['FillInTheBlanks', { text, blanks, wordBank: true, distractors: ['ebb'] }, chosen],
  ['Matching', { pairs, points: 1 }, matched],
  ['Matching', { pairs, partialCredit: false }, matched],
  ['Ordering', { items, points: 7 }, ordered],
  ['Ordering', { items, partialCredit: false }, ordered],
];

const noMedia = { file: () => 'media:a' } as unknown as ConvertedMedia;

test.each(cases)('QTI gives the points of %s %j for every answer', (type, props, answers) => {
  const block = { type, props: { id: 'q', prompt: '<p>Why &lt; <br>?</p><script>1</script>', ...props } };
  const step = { id: 's', title: 'Step', order_index: 0, content: { root: {}, content: [block] } };
  const section = { id: 's', title: 'Moon', order_index: 0, steps: [step] };
  const lesson = { title: 'Tides', language: 'en' };
  const { files } = writeQti({ lesson, sections: [section] } as unknown as LessonContent);
  expect(files.map(({ path }) => path)).toEqual(['imsmanifest.xml', 'test.xml', 'items/item-1.xml']);
  const written = files[2]?.text ?? '';
  const item = readItem(parseQti(written, 'item.xml'), 'items/item.xml', noMedia);
  const scores = answers.map(([, given]) => item.score(new Map(Object.entries(given))) ?? Number.NaN);
  const expected = answers.map(
    ([answer]) => scoringOf(type)?.score(block.props, answer)?.score ?? Number.NaN,
  );
  for (const [index, score] of scores.entries()) expect(score).toBeCloseTo(expected[index] ?? Number.NaN, 9);
  expect(written).not.toContain('script');
  if (written.includes('media/')) expect(files[0]?.text).toContain('<file href="media/a.png"/>');
});
