/** The pure rules that score answers to core widgets, in the player and on the server, which decides. */

/** The points of an answer: `0 <= score <= maxScore`. */
export interface Score {
  score: number;
  maxScore: number;
}

/** The parts of a question's props that scoring needs. The outline of a version keeps them. */
export interface QuestionFacts {
  /** The points of a right answer; 0 for a question that is not scored. */
  points: number;
}

/** The scoring of a core widget. */
export interface WidgetScoring {
  /** Returns the part of a block's props that scoring needs; null for a block that is not scored. */
  questionOf: (props: unknown) => QuestionFacts | null;
  /**
   * Returns what an answer earns; null for a question that is not scored. Answers come from learners' browsers: a value
   * of any other shape earns nothing.
   *
   * @param question the facts, or the unchecked props
   */
  score: (question: unknown, answer: unknown) => Score | null;
  /** Returns a right answer; undefined for a question without one. @param props unchecked */
  rightAnswer: (props: unknown) => unknown;
}

/** Reads the prop `points`; values that are not a number of 0 or more count as the default. */
export function readPoints(points: unknown, defaultPoints = 1): number {
  return typeof points === 'number' && Number.isFinite(points) && points >= 0 ? points : defaultPoints;
}

/** Returns the points for some of the parts of a question. They are not rounded: only sums are, for readers. */
export function earned(points: number, right: number, parts = 1): Score {
  return { score: right === parts ? points : points * (right / parts), maxScore: points };
}

/**
 * Returns the points of a question with parts that can each be right: each earns its share, unless the author wants all
 * or nothing.
 */
export function earnedByParts(points: number, isRight: readonly boolean[], partialCredit: boolean): Score {
  const right = isRight.filter(Boolean).length;
  return earned(points, partialCredit || right === isRight.length ? right : 0, isRight.length);
}

/** Returns the id of a part of a question as text; undefined for other values. */
export function partIdOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns a text; '' for other values. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Reads the prop `attempts`, the limit of tries: a whole number of at least 1, otherwise infinity. */
export function readAttempts(attempts: unknown): number {
  return Number.isInteger(attempts) && (attempts as number) > 0 ? (attempts as number) : Infinity;
}

/**
 * Returns whether a question is closed: the answer is right, or no try is left. The player may then show the right
 * answer, so later answers change neither the record nor its points.
 *
 * @param tries the number of answers so far
 */
export function isClosedAfter(
  { score, maxScore }: { score: number | null; maxScore: number | null },
  tries: number,
  attempts: number,
): boolean {
  return score !== null && (score === maxScore || tries >= attempts);
}
