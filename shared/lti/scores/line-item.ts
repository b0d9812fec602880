import { z } from 'zod';
import type { Database } from '../../models/database.ts';
import { findLesson } from '../../models/lesson.ts';
import type { LtiPlatform } from '../../models/lti-platform.ts';
import type { LtiResourceLink } from '../../models/lti-resource-link.ts';
import { endLineItemClaim, findOrClaimLineItem } from '../../models/lti-line-item.ts';
import { fullMarks } from '../../progress/points.ts';
import { gradeScopes, httpUrl, ltiId, mediaTypes } from '../claims.ts';
import { areRelated } from '../platform-url.ts';
import { responseJson } from '../platform-requests.ts';
import type { PlatformResponse } from '../platform-requests.ts';
import { callGradeService, ScoreFault, unreadable } from './service-request.ts';
import type { GradeService } from './service-request.ts';
import { parseUrl } from '../../platform/parse-url.ts';

/** Marks the line items that Lectern created. */
export const lineItemTag = 'lectern';

/** A link has few line items, but some platforms list all of the course, in small pages by default. */
const itemsPerPage = 100;
const maxPages = 20;

const itemSchema = z.object({
  id: httpUrl,
  resourceLinkId: ltiId.optional().catch(undefined),
  tag: z.string().optional().catch(undefined),
});
type LineItem = z.output<typeof itemSchema>;

interface Dependencies extends GradeService {
  db: Database;
}

export interface FoundLineItem {
  url: string;
  /** Whether Lectern found or created it. Otherwise the launch named it. */
  isOwn: boolean;
}

/**
 * Returns the line item of a resource link: the one that its launch named, else one that the platform lists, else a
 * new one. A lease lets one worker at a time look for it.
 *
 * @returns null while another worker holds the lease.
 * @throws {ScoreFault} or the signal's reason.
 */
export async function findOrCreateLineItem(
  deps: Dependencies,
  platform: LtiPlatform,
  link: LtiResourceLink,
  signal: AbortSignal,
): Promise<FoundLineItem | null> {
  if (link.lineItemUrl !== null) return { url: link.lineItemUrl, isOwn: false };
  if (link.withoutColumn || link.lineItemsUrl === null) throw noLineItem();
  const found = await findOrClaimLineItem(deps.db, link._id);
  if ('url' in found) return { url: found.url, isOwn: true };
  const { leaseId } = found;
  if (leaseId === null) return null;
  let url: string | null = null;
  try {
    url = await findOrCreate(deps, platform, { ...link, lineItemsUrl: link.lineItemsUrl }, signal);
  } finally {
    await endLineItemClaim(deps.db, link._id, { leaseId, url });
  }
  return { url, isOwn: true };
}

type LinkWithItems = LtiResourceLink & { lineItemsUrl: string };

async function findOrCreate(
  deps: Dependencies,
  platform: LtiPlatform,
  link: LinkWithItems,
  signal: AbortSignal,
): Promise<string> {
  const { lineItem, lineItemReadonly } = gradeScopes;
  const scopes = [lineItem, lineItemReadonly].filter((scope) => link.scopes.includes(scope)).slice(0, 1);
  if (scopes.length === 0) throw noLineItem();
  const existing = await findExisting(deps, platform, scopes, link, signal);
  if (existing !== null) return existing;
  if (!scopes.includes(lineItem)) throw noLineItem();
  return create(deps, platform, scopes, link, signal);
}

/** Prefers the line item that Lectern created. Platforms may list more line items than those of the link. */
async function findExisting(
  deps: Dependencies,
  platform: LtiPlatform,
  scopes: string[],
  { lineItemsUrl, resourceLinkId }: LinkWithItems,
  signal: AbortSignal,
): Promise<string | null> {
  const first = new URL(lineItemsUrl);
  first.searchParams.set('resource_link_id', resourceLinkId);
  first.searchParams.set('limit', String(itemsPerPage));
  const items: LineItem[] = [];
  let next: string | null = first.href;
  for (let page = 0; next !== null && page < maxPages; page += 1) {
    const url: string = next;
    const headers = { Accept: mediaTypes.lineItems };
    const response = await callGradeService(deps, platform, scopes, { method: 'GET', url, headers, signal });
    const parsed = z.array(z.unknown()).safeParse(responseJson(response));
    if (!parsed.success) throw unreadable(response, 'a list of line items');
    for (const element of parsed.data) {
      const item = itemSchema.safeParse(element).data;
      if (item?.resourceLinkId === resourceLinkId) items.push(item);
    }
    next = nextPageUrl(response, url);
    if (next !== null) assertSameDomain(next, lineItemsUrl);
  }
  const found = items.find(({ tag }) => tag === lineItemTag) ?? items[0];
  // The line item may be on a later page, and a second gradebook column is worse than none.
  if (found === undefined && next !== null) {
    throw new ScoreFault('unreadable_answer', 'The platform lists more line items than Lectern reads');
  }
  if (found === undefined) return null;
  assertSameDomain(found.id, lineItemsUrl);
  return found.id;
}

async function create(
  deps: Dependencies,
  platform: LtiPlatform,
  scopes: string[],
  { lineItemsUrl: url, resourceLinkId, lessonId }: LinkWithItems,
  signal: AbortSignal,
): Promise<string> {
  const lesson = await findLesson(deps.db, lessonId);
  const response = await callGradeService(deps, platform, scopes, {
    method: 'POST',
    url,
    headers: { 'Content-Type': mediaTypes.lineItem, Accept: mediaTypes.lineItem },
    body: JSON.stringify({
      scoreMaximum: fullMarks,
      label: lesson?.title ?? 'Lesson',
      resourceId: lessonId,
      resourceLinkId,
      tag: lineItemTag,
    }),
    signal,
  });
  const created = itemSchema.safeParse(responseJson(response));
  if (!created.success) throw unreadable(response, 'a line item');
  assertSameDomain(created.data.id, url);
  return created.data.id;
}

/**
 * Checks that a line item is on the domain of its list, whose URL the platform's launch signed, so that the access
 * token goes nowhere else. The token itself often comes from another domain (Canvas, Blackboard).
 *
 * @throws {ScoreFault} blocked_address
 */
function assertSameDomain(lineItemUrl: string, lineItemsUrl: string): void {
  const [given, own] = [new URL(lineItemUrl).hostname, new URL(lineItemsUrl).hostname];
  if (areRelated(given, own)) return;
  throw new ScoreFault(
    'blocked_address',
    `The line items at ${own} point to ${given}, which is on another domain`,
  );
}

/** Returns the next page's URL from the Link header (pagination), whose parts have the form `<URL>; rel="next"`. */
function nextPageUrl({ headers }: PlatformResponse, base: string): string | null {
  for (const [, url = '', parameters = ''] of (headers.get('link') ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (!/;\s*rel="?([^";]*\s)?next[\s";,]?/i.test(parameters)) continue;
    return parseUrl(url, base)?.href ?? null;
  }
  return null;
}

function noLineItem(): ScoreFault {
  return new ScoreFault(
    'no_line_item',
    'The platform has no line item for this link, and does not let Lectern create one',
  );
}
