import { listOf, recordOf } from '../json-values.ts';
import { earnedByParts, partIdOf, readPoints, textOf } from './scoring.ts';
import type { QuestionFacts, Score, WidgetScoring } from './scoring.ts';

/** The pairs and the scoring of matching questions. */

/** One of the fixed sides, for which learners find the match. */
export interface MatchItem {
  id: string;
  html: string;
  /** The id of the right option. */
  match: string;
}

/** One of the matches to choose from. */
export interface MatchOption {
  id: string;
  html: string;
  /** How many pairs it is right for; 0 for a distractor. */
  uses: number;
}

export interface MatchingQuestion extends QuestionFacts {
  items: MatchItem[];
  options: MatchOption[];
  partialCredit: boolean;
}

export const matchingScoring: WidgetScoring = {
  questionOf,
  score: scoreMatching,
  rightAnswer: (props) => Object.fromEntries(readMatching(props).items.map(({ id, match }) => [id, match])),
};

const maxPairs = 100;

function questionOf(props: unknown): QuestionFacts | null {
  const { items, points, partialCredit } = readMatching(props);
  if (items.length === 0 || points === 0) return null;
  // The ids of the options stand for their texts, because an outline must stay small.
  const facts = { pairs: items.map(({ id, match }) => ({ id, right: match })), points, partialCredit };
  return facts;
}

/**
 * Reads a block's unchecked props. Leaves out pairs without an id or a side. Pairs with the same right side share one
 * option, with the id of the first of them: so several items can have the same match.
 */
export function readMatching(props: unknown): MatchingQuestion {
  const { pairs, distractors, points, partialCredit } = recordOf(props);
  const items = new Map<string, MatchItem>();
  const options = new Map<string, MatchOption>();
  for (const entry of listOf(pairs).slice(0, maxPairs)) {
    const { id, left, right } = recordOf(entry);
    const key = partIdOf(id);
    const html = textOf(right).trim();
    if (key === undefined || items.has(key) || html === '') continue;
    const option = options.get(html) ?? { id: key, html, uses: 0 };
    options.set(html, option);
    option.uses += 1;
    items.set(key, { id: key, html: textOf(left), match: option.id });
  }
  for (const entry of listOf(distractors).slice(0, maxPairs)) {
    const { id, html } = recordOf(entry);
    const key = partIdOf(id);
    const text = textOf(html).trim();
    if (key === undefined || text === '' || items.has(key) || options.has(text)) continue;
    if ([...options.values()].some((option) => option.id === key)) continue;
    options.set(text, { id: key, html: text, uses: 0 });
  }
  return {
    items: [...items.values()],
    options: [...options.values()],
    points: readPoints(points, items.size),
    partialCredit: partialCredit !== false,
  };
}

/**
 * Scores an answer: each right pair earns its share of the points.
 *
 * @param answer the ids of the chosen options by the ids of the pairs; anything else counts as empty
 */
export function scoreMatching(props: unknown, answer: unknown): Score | null {
  const { items, points, partialCredit } = readMatching(props);
  if (items.length === 0 || points === 0) return null;
  return earnedByParts(
    points,
    items.map(({ id, match }) => matchIn(items, answer, id) === match),
    partialCredit,
  );
}

/**
 * Returns the option that a learner chose for an item; undefined for none. An option that has become the same as an
 * earlier one in this version counts as that one.
 */
export function matchIn(items: readonly MatchItem[], answer: unknown, itemId: string): string | undefined {
  const given = recordOf(answer);
  const chosen = Object.hasOwn(given, itemId) ? partIdOf(given[itemId]) : undefined;
  return items.find(({ id }) => id === chosen)?.match ?? chosen;
}
