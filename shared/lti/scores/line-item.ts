import { z } from 'zod';
import type { Database } from '../../models/database.ts';
import { findLesson } from '../../models/lesson.ts';
import type { LtiPlatform } from '../../models/lti-platform.ts';
import type { LtiResourceLink } from '../../models/lti-resource-link.ts';
import { endLineItemClaim, findOrClaimLineItem } from '../../models/lti-line-item.ts';
import { fullMarks } from '../../progress/score.ts';
import { gradeScopes } from '../claims.ts';
import { areRelated } from '../platform-url.ts';
import { jsonOf } from '../platform-requests.ts';
import type { PlatformAnswer } from '../platform-requests.ts';
import { askGradeService, ScoreFault } from './service-request.ts';
import type { GradeService } from './service-request.ts';
import { parseUrl } from '../../platform/parse-url.ts';

/** By this Lectern knows the line items that it made. */
export const lineItemTag = 'lectern';

/** A link has one line item or a few; but some platforms give all of a course, by small pages unless asked otherwise. */
const itemsAPage = 100;
const mostPages = 20;

const containerType = 'application/vnd.ims.lis.v2.lineitemcontainer+json';
const itemType = 'application/vnd.ims.lis.v2.lineitem+json';

const itemSchema = z.object({
  id: z.url({ protocol: /^https?$/ }),
  resourceLinkId: z.string().optional().catch(undefined),
  tag: z.string().optional().catch(undefined),
});
type LineItem = z.output<typeof itemSchema>;

interface Needs extends GradeService {
  db: Database;
}

export interface FoundLineItem {
  url: string;
  /** Whether Lectern looked for it itself, as the platform's launches do not name it. */
  isOwn: boolean;
}

/**
 * The line item of a resource link: the one that its launch named, else one that is looked for at the platform, and
 * made where there is none; once, however many ask.
 *
 * @returns null while somebody else looks for it.
 * @throws {ScoreFault} or the signal's reason.
 */
export async function lineItemOf(
  needs: Needs,
  platform: LtiPlatform,
  link: LtiResourceLink,
  signal: AbortSignal,
): Promise<FoundLineItem | null> {
  if (link.lineItemUrl !== null) return { url: link.lineItemUrl, isOwn: false };
  if (link.withoutColumn || link.lineItemsUrl === null) throw noLineItem();
  const found = await findOrClaimLineItem(needs.db, link._id);
  if ('url' in found) return { url: found.url, isOwn: true };
  const { leaseId } = found;
  if (leaseId === null) return null;
  let url: string | null = null;
  try {
    url = await findOrMake(needs, platform, { ...link, lineItemsUrl: link.lineItemsUrl }, signal);
  } finally {
    await endLineItemClaim(needs.db, link._id, { leaseId, url });
  }
  return { url, isOwn: true };
}

type LinkWithItems = LtiResourceLink & { lineItemsUrl: string };

async function findOrMake(
  needs: Needs,
  platform: LtiPlatform,
  link: LinkWithItems,
  signal: AbortSignal,
): Promise<string> {
  const { lineItem, lineItemReadonly } = gradeScopes;
  const scopes = [lineItem, lineItemReadonly].filter((scope) => link.scopes.includes(scope)).slice(0, 1);
  if (scopes.length === 0) throw noLineItem();
  const existing = await find(needs, platform, scopes, link, signal);
  if (existing !== null) return existing;
  if (!scopes.includes(lineItem)) throw noLineItem();
  return make(needs, platform, scopes, link, signal);
}

/** One that Lectern made before its others. Platforms may give more than those of the link that was asked for. */
async function find(
  needs: Needs,
  platform: LtiPlatform,
  scopes: string[],
  { lineItemsUrl, resourceLinkId }: LinkWithItems,
  signal: AbortSignal,
): Promise<string | null> {
  const first = new URL(lineItemsUrl);
  first.searchParams.set('resource_link_id', resourceLinkId);
  first.searchParams.set('limit', String(itemsAPage));
  const items: LineItem[] = [];
  let next: string | null = first.href;
  for (let page = 0; next !== null && page < mostPages; page += 1) {
    const url: string = next;
    const headers = { Accept: containerType };
    const answer = await askGradeService(needs, platform, scopes, { method: 'GET', url, headers, signal });
    const parsed = z.array(z.unknown()).safeParse(jsonOf(answer));
    if (!parsed.success) throw unreadable(answer);
    for (const element of parsed.data) {
      const item = itemSchema.safeParse(element).data;
      if (item?.resourceLinkId === resourceLinkId) items.push(item);
    }
    next = nextPage(answer, url);
    if (next !== null) assertOfPlatform(next, lineItemsUrl);
  }
  const found = items.find(({ tag }) => tag === lineItemTag) ?? items[0];
  // It may be on a page that was not read: another column is worse than none.
  if (found === undefined && next !== null) {
    throw new ScoreFault('unreadable_answer', 'The platform lists more line items than Lectern reads');
  }
  if (found === undefined) return null;
  assertOfPlatform(found.id, lineItemsUrl);
  return found.id;
}

async function make(
  needs: Needs,
  platform: LtiPlatform,
  scopes: string[],
  { lineItemsUrl: url, resourceLinkId, lessonId }: LinkWithItems,
  signal: AbortSignal,
): Promise<string> {
  const lesson = await findLesson(needs.db, lessonId);
  const answer = await askGradeService(needs, platform, scopes, {
    method: 'POST',
    url,
    headers: { 'Content-Type': itemType, Accept: itemType },
    body: JSON.stringify({
      scoreMaximum: fullMarks,
      label: lesson?.title ?? 'Lesson',
      resourceId: lessonId,
      resourceLinkId,
      tag: lineItemTag,
    }),
    signal,
  });
  const made = itemSchema.safeParse(jsonOf(answer));
  if (!made.success) throw unreadable(answer);
  assertOfPlatform(made.data.id, url);
  return made.data.id;
}

/**
 * Line items are where their list is, which the platform's launch has signed: the token goes nowhere else. That the
 * token itself comes from another domain is common (Canvas, Blackboard).
 *
 * @throws {ScoreFault} blocked_address
 */
function assertOfPlatform(address: string, lineItemsUrl: string): void {
  const [given, own] = [new URL(address).hostname, new URL(lineItemsUrl).hostname];
  if (areRelated(given, own)) return;
  throw new ScoreFault(
    'blocked_address',
    `The line items at ${own} point to ${given}, which is on another domain`,
  );
}

/** Of the header Link, whose parts have the form `<address>; rel="next"`. */
function nextPage({ headers }: PlatformAnswer, base: string): string | null {
  for (const [, address = '', parameters = ''] of (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    if (!/;\s*rel="?([^";]*\s)?next[\s";,]?/i.test(parameters)) continue;
    return parseUrl(address, base)?.href ?? null;
  }
  return null;
}

function noLineItem(): ScoreFault {
  return new ScoreFault('no_line_item', 'The platform has no line item for this link, and lets none be made');
}

function unreadable({ status, text: body }: PlatformAnswer): ScoreFault {
  return new ScoreFault('unreadable_answer', 'The platform answered with no line item', { status, body });
}
