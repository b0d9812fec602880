/** How often each value occurs, by the value. Values are whole numbers. */
export type Histogram = Record<string, number>;

/** The marks of one question, in units, with the marks of the same learners in all other questions. */
export interface MarkTally {
  marks: Histogram;
  /** By the points in the other questions. */
  rests: Histogram;
  /** The sum of each learner's mark times the rest. */
  products: number;
}

/** The analysis of one question; percentages and marks in units, not rounded. Null if a variance is 0. */
export interface ItemAnalysis {
  learners: number;
  /** The mean mark, as a percentage of the maximum. */
  facility: number;
  standardDeviation: number | null;
  /** The correlation of marks and rests, as a percentage. */
  discrimination: number | null;
  /** The covariance of marks and rests, as a percentage of the largest that these values allow. */
  efficiency: number | null;
}

/** The moments of values; the variance is that of a sample (n - 1), and null for fewer than two values. */
interface Moments {
  count: number;
  sum: number;
  mean: number;
  variance: number | null;
}

/** Returns the item analysis of a question, as Moodle's quiz statistics define it. @param maximum in units. */
export function analyzeItem({ marks, rests, products }: MarkTally, maximum: number): ItemAnalysis {
  const [mark, rest] = [momentsOf(marks), momentsOf(rests)];
  const { count } = mark;
  const covariance = count < 2 ? null : (products - (mark.sum * rest.sum) / count) / (count - 1);
  const spread = Math.sqrt((mark.variance ?? 0) * (rest.variance ?? 0));
  const largest = count < 2 ? 0 : largestCovariance(marks, rests);
  return {
    learners: count,
    facility: (100 * mark.mean) / maximum,
    standardDeviation: mark.variance === null ? null : Math.sqrt(mark.variance),
    discrimination: covariance === null || spread === 0 ? null : (100 * covariance) / spread,
    efficiency: covariance === null || largest === 0 ? null : (100 * covariance) / largest,
  };
}

/**
 * Returns Cronbach's alpha as a percentage, which Moodle calls the coefficient of internal consistency. Null for fewer
 * than two questions or learners, or if all learners have the same total.
 */
export function cronbachAlpha(
  questions: readonly Pick<MarkTally, 'marks'>[],
  totals: Histogram,
): number | null {
  const { variance } = momentsOf(totals);
  if (questions.length < 2 || variance === null || variance === 0) return null;
  const ofQuestions = questions.reduce((sum, { marks }) => sum + (momentsOf(marks).variance ?? 0), 0);
  return ((100 * questions.length) / (questions.length - 1)) * (1 - ofQuestions / variance);
}

/**
 * Returns the correlation between a choice and the rest: the point-biserial correlation. Null if all learners or none
 * took the choice, or all have the same rest.
 *
 * @param picked the learners who took it, and the sum of their rests.
 * @param rest the moments of all rests.
 */
export function pointBiserial(picked: { count: number; rests: number }, rest: Moments): number | null {
  const share = picked.count / rest.count;
  const deviation = Math.sqrt(((rest.variance ?? 0) * (rest.count - 1)) / rest.count);
  if (deviation === 0 || share === 0 || share === 1) return null;
  return ((picked.rests / picked.count - rest.mean) / deviation) * Math.sqrt(share / (1 - share));
}

export function momentsOf(histogram: Histogram): Moments {
  let [count, sum, squares] = [0, 0, 0];
  for (const [value, times] of Object.entries(histogram)) {
    count += times;
    sum += Number(value) * times;
    squares += Number(value) ** 2 * times;
  }
  const mean = count === 0 ? 0 : sum / count;
  // Whole numbers: equal values give exactly 0.
  const spread = count * squares - sum * sum;
  return { count, sum, mean, variance: count < 2 ? null : spread / (count * (count - 1)) };
}

/** Returns the covariance of both values when they are sorted. */
function largestCovariance(marks: Histogram, rests: Histogram): number {
  const [ofMarks, ofRests] = [sorted(marks), sorted(rests)];
  let [products, at, used] = [0, 0, 0];
  for (const [mark, times] of ofMarks) {
    for (let left = times; left > 0;) {
      const [rest, available] = ofRests[at] ?? [0, left];
      const taken = Math.min(left, available - used);
      products += mark * rest * taken;
      left -= taken;
      used += taken;
      if (used === available) [at, used] = [at + 1, 0];
    }
  }
  const [mark, rest] = [momentsOf(marks), momentsOf(rests)];
  const spread = mark.count * products - mark.sum * rest.sum;
  return spread / (mark.count * (mark.count - 1));
}

function sorted(histogram: Histogram): [value: number, times: number][] {
  return Object.entries(histogram)
    .map(([value, times]): [number, number] => [Number(value), times])
    .sort(([one], [other]) => one - other);
}
