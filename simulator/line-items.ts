import { lineItemAddress, lineItemsAddress } from './addresses.ts';
import type { LineItem, LineItemDetails, Link, Score } from './model.ts';
import type { Platform } from './platform.ts';

/** The query of a tool's addresses: `?type_id=` and the number of the tool, or nothing. */
export function lineItemQuery({ tools, settings }: Platform, clientId: string): string {
  if (settings.lineItemQuery === 'none') return '';
  return `?type_id=${[...tools.keys()].indexOf(clientId) + 1}`;
}

export function addressOfLineItems(platform: Platform, courseId: string, clientId: string): string {
  return lineItemsAddress(platform.addresses.url, courseId, lineItemQuery(platform, clientId));
}

export function addressOfLineItem(platform: Platform, { courseId, id, clientId }: LineItem): string {
  return lineItemAddress(platform.addresses.url, courseId, id, lineItemQuery(platform, clientId));
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

/** Those of a link, in the order they were made. */
export function lineItemsOf(platform: Platform, { id }: Link): LineItem[] {
  return [...platform.lineItems.values()].filter(({ linkId }) => linkId === id);
}

/** The score that counts, of each user: the one with the newest timestamp, which is the one that came last. */
export function currentScores(platform: Platform, lineItemId: string): Map<string, Score> {
  const own = platform.scores.filter((score) => score.lineItemId === lineItemId);
  return new Map(own.map((score) => [score.userId, score]));
}

/** A score on the scale of its line item; none until it is fully graded. */
export function gradeOf({ scoreMaximum }: LineItem, score: Score): number | null {
  if (score.gradingProgress !== 'FullyGraded' || score.scoreGiven === null) return null;
  return (score.scoreGiven / (score.scoreMaximum ?? 1)) * scoreMaximum;
}
