import { lineItemUrl, lineItemsUrl } from './urls.ts';
import type { LineItem, LineItemDetails, Link, Score } from './model.ts';
import type { Platform } from './platform.ts';

/** Returns the query of a tool's URLs: `?type_id=` and the number of the tool. */
export function lineItemQuery({ tools }: Platform, clientId: string): string {
  return `?type_id=${[...tools.keys()].indexOf(clientId) + 1}`;
}

export function lineItemsUrlOf(platform: Platform, courseId: string, clientId: string): string {
  return lineItemsUrl(platform.urls.url, courseId, lineItemQuery(platform, clientId));
}

export function lineItemUrlOf(platform: Platform, { courseId, id, clientId }: LineItem): string {
  return lineItemUrl(platform.urls.url, courseId, id, lineItemQuery(platform, clientId));
}

/** Adds a column to a course's gradebook. */
export function addLineItem(
  platform: Platform,
  { courseId, clientId, linkId }: Pick<LineItem, 'courseId' | 'clientId' | 'linkId'>,
  details: LineItemDetails,
): LineItem {
  const id = String(++platform.lastLineItem);
  const lineItem = { ...details, id, courseId, clientId, linkId };
  platform.lineItems.set(id, lineItem);
  return lineItem;
}

/** Returns the line items of a link, the oldest first. */
export function lineItemsOf(platform: Platform, { id }: Link): LineItem[] {
  return [...platform.lineItems.values()].filter(({ linkId }) => linkId === id);
}

/** Returns each user's last accepted score, which is also the newest. */
export function currentScores(platform: Platform, lineItemId: string): Map<string, Score> {
  const own = platform.scores.filter((score) => score.lineItemId === lineItemId);
  return new Map(own.map((score) => [score.userId, score]));
}

/** Returns a score on the scale of its line item; null until it is fully graded. */
export function gradeOf({ scoreMaximum }: LineItem, score: Score): number | null {
  if (score.gradingProgress !== 'FullyGraded' || score.scoreGiven === null) return null;
  return (score.scoreGiven / (score.scoreMaximum ?? 1)) * scoreMaximum;
}
