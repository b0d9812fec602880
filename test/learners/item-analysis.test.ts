import { expect, test } from 'vitest';
import { analyzeItem, cronbachAlpha, momentsOf, pointBiserial } from '../../shared/learners/item-analysis.ts';
import type { Histogram, MarkTally } from '../../shared/learners/item-analysis.ts';

/* Marks of 25 attempts at 7 questions of a point each, and what Moodle's quiz statistics compute of them. */
const marks = `
  1 1 1 1 1 0 1 | 1 1 1 1 .5 1 0 | 1 1 1 1 .5 0 1 | 0 0 1 1 1 0 0 | 1 0 1 0 0 1 .5 | 1 1 1 1 .5 0 .5
  0 1 1 1 .5 1 .5 | 1 1 1 0 .5 1 .5 | 1 0 1 1 1 1 1 | 0 1 1 0 .5 1 .5 | .8 0 1 1 .5 1 .5 | 1 1 1 0 .5 1 1
  1 0 1 1 .5 1 .5 | 1 0 1 1 1 0 .5 | 0 0 1 1 0 1 1 | 1 0 1 0 .5 1 1 | .8 0 1 1 .5 0 1 | 1 0 1 1 0 1 .5
  1 0 1 1 .5 0 .5 | 0 1 1 0 .5 1 0 | 1 1 .3333333 1 .5 0 .5 | 1 1 1 0 .5 0 .5 | 1 1 1 1 0 1 .5
  0 0 1 0 .5 1 1 | 0 0 1 1 1 1 1`
  .replaceAll('|', ' ')
  .trim()
  .split(/\s+/)
  .map((mark) => Math.round(Number(mark) * unit()))
  .reduce<number[][]>((rows, mark, index) => {
    if (index % 7 === 0) rows.push([]);
    rows.at(-1)?.push(mark);
    return rows;
  }, []);

/** Units of a point. */
function unit(): number {
  return 10_000;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const histogram = (values: readonly number[]): Histogram =>
  values.reduce<Histogram>((counts, value) => ({ ...counts, [value]: (counts[value] ?? 0) + 1 }), {});
const tallyOf = (question: number): MarkTally => {
  const ofQuestion = marks.map((row) => row[question] ?? 0);
  const rests = marks.map((row) => sum(row) - (row[question] ?? 0));
  const products = sum(ofQuestion.map((mark, index) => mark * (rests[index] ?? 0)));
  return { marks: histogram(ofQuestion), rests: histogram(rests), products };
};

test.each([
  [0.704, 0.4513682901, -7.0650767526, -9.4550536967],
  [0.48, 0.5099019514, -28.8982125772, -36.7834118938],
  [0.973333332, 0.13333334, -9.1230674268, -21.6545012165],
  [0.68, 0.4760952286, -22.6306444113, -31.4411395613],
  [0.52, 0.3055050463, -17.6997047674, -21.1794802584],
  [0.64, 0.4898979486, -45.3785178421, -56.9365974439],
  [0.62, 0.331662479, -5.6543166602, -6.5043742058],
])('facility %d, deviation %d, discrimination %d and efficiency %d are those of Moodle', (...expected) => {
  const question = [0.704, 0.48, 0.973333332, 0.68, 0.52, 0.64, 0.62].indexOf(expected[0]);
  const found = analyzeItem(tallyOf(question), unit());
  expect(found.learners).toBe(25);
  expect(found.facility / 100).toBeCloseTo(expected[0], 4);
  expect((found.standardDeviation ?? 0) / unit()).toBeCloseTo(expected[1], 4);
  expect(found.discrimination).toBeCloseTo(expected[2], 2);
  expect(found.efficiency).toBeCloseTo(expected[3], 2);
});

test("Cronbach's alpha is Moodle's coefficient of internal consistency", () => {
  const questions = marks[0]?.map((_, question) => tallyOf(question)) ?? [];
  expect(cronbachAlpha(questions, histogram(marks.map(sum)))).toBeCloseTo(-87.2230935542, 2);
});

test('the point-biserial correlation is Pearson’s of the choice and the rest', () => {
  // Two of four learners took the choice: (1, 3), (1, 2), (0, 1), (0, 0).
  expect(pointBiserial({ count: 2, rests: 5 }, momentsOf({ 0: 1, 1: 1, 2: 1, 3: 1 }))).toBeCloseTo(
    2 / Math.sqrt(5),
    10,
  );
  expect(pointBiserial({ count: 0, rests: 0 }, momentsOf({ 0: 1, 1: 1 }))).toBeNull();
  expect(pointBiserial({ count: 2, rests: 1 }, momentsOf({ 0: 1, 1: 1 }))).toBeNull();
});
