import { listOf, recordOf } from '../json-values.ts';
import { earnedByParts, partIdOf, readPoints, textOf } from './scoring.ts';
import type { QuestionFacts, Score, WidgetScoring } from './scoring.ts';

/** The items and the scoring of ordering questions. */

export interface OrderItem {
  id: string;
  html: string;
}

export interface OrderingQuestion extends QuestionFacts {
  /** In the right order. */
  items: OrderItem[];
  partialCredit: boolean;
}

export const orderingScoring: WidgetScoring = {
  questionOf,
  score: scoreOrdering,
  rightAnswer: (props) => readOrdering(props).items.map(({ id }) => id),
};

const maxItems = 100;

function questionOf(props: unknown): OrderingQuestion | null {
  const { items, points, partialCredit } = readOrdering(props);
  if (items.length < 2 || points === 0) return null;
  const sameAs = firstByHtml(items);
  // Numbers stand for the texts: equal ones for equal texts. An outline must stay small.
  const numbered = items.map(({ id }) => ({ id, html: sameAs(id) ?? '' }));
  return { items: numbered, points, partialCredit };
}

/** Reads a block's unchecked props. Leaves out items without an id or a text. */
export function readOrdering(props: unknown): OrderingQuestion {
  const { items, points, partialCredit } = recordOf(props);
  const read = new Map<string, OrderItem>();
  for (const entry of listOf(items).slice(0, maxItems)) {
    const { id, html } = recordOf(entry);
    const key = partIdOf(id);
    const text = textOf(html).trim();
    if (key !== undefined && !read.has(key) && text !== '') read.set(key, { id: key, html: text });
  }
  return { items: [...read.values()], points: readPoints(points), partialCredit: partialCredit !== false };
}

/**
 * Scores an answer: all points for the right order. Otherwise, each item that directly follows its right predecessor
 * earns a share, so that one misplaced item does not spoil all others. Items with the same text are interchangeable.
 *
 * @param answer an array of item ids; it earns nothing unless it has every item once
 */
export function scoreOrdering(props: unknown, answer: unknown): Score | null {
  const { items, points, partialCredit } = readOrdering(props);
  if (items.length < 2 || points === 0) return null;
  return earnedByParts(points, rightSteps(items, answer), partialCredit);
}

/** Returns, for each item of an answer except the first, whether it directly follows its right predecessor. */
export function rightSteps(items: readonly OrderItem[], answer: unknown): boolean[] {
  const order = orderIn(items, answer);
  if (order === undefined) return items.slice(1).map(() => false);
  const sameAs = firstByHtml(items);
  const open = stepsOf(items.map(({ id }) => sameAs(id)));
  return stepsOf(order.map(sameAs)).map((step) => {
    const found = open.indexOf(step);
    // Each step of the right order counts once, also where texts repeat.
    if (found >= 0) open[found] = '';
    return found >= 0;
  });
}

/** Returns each pair of neighbors as one text. */
function stepsOf(ids: readonly (string | undefined)[]): string[] {
  return ids.slice(1).map((id, index) => JSON.stringify([ids[index], id]));
}

/** Returns an answer that has every item once; undefined for any other. */
export function orderIn(items: readonly OrderItem[], answer: unknown): string[] | undefined {
  const given = listOf(answer);
  if (given.length !== items.length) return undefined;
  const ids = given.map(partIdOf);
  const known = new Set(items.map(({ id }) => id));
  if (new Set(ids).size !== ids.length || !ids.every((id) => id !== undefined && known.has(id)))
    return undefined;
  return ids as string[];
}

/** Returns a function from an item's id to the id of the first item with the same text. */
function firstByHtml(items: readonly OrderItem[]): (id: string) => string | undefined {
  const firstIds = new Map<string, string>();
  const byId = new Map<string, string>();
  for (const { id, html } of items) {
    if (!firstIds.has(html)) firstIds.set(html, id);
    byId.set(id, firstIds.get(html) ?? id);
  }
  return (id) => byId.get(id);
}
