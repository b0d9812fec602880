import { forgetLineItem } from '../../models/lti-line-item.ts';
import { findPlatform } from '../../models/lti-platform.ts';
import { findResourceLink } from '../../models/lti-resource-link.ts';
import type { SentScore } from '../../models/lti-score.ts';
import type { ClaimedScore } from '../../models/lti-score-changes.ts';
import type { Database } from '../../models/database.ts';
import { truncateBody } from '../../deliveries/delivery-fault.ts';
import { canvasSubmission, gradeScopes, mediaTypes } from '../claims.ts';
import { findOrCreateLineItem } from './line-item.ts';
import { callGradeService, ScoreFault, unreadable } from './service-request.ts';
import type { GradeService } from './service-request.ts';
import { isWebPage } from '../../platform/http/web-page.ts';
import { responseJson } from '../platform-requests.ts';
import type { PlatformResponse } from '../platform-requests.ts';
import type { TokenPlatform } from '../service-token.ts';

/**
 * Sends the score that a row wants, with the timestamp of its claim.
 *
 * @returns the platform's response; null, and sends nothing, while another worker looks for the line item.
 * @throws {ScoreFault} when the platform does not accept it; the signal's reason.
 */
export async function sendScore(
  service: GradeService & { db: Database },
  row: ClaimedScore,
  signal: AbortSignal,
): Promise<Pick<SentScore, 'lineItemUrl' | 'response'> | null> {
  const { db } = service;
  const platform = await findPlatform(db, row.platformId);
  if (platform?.status !== 'active') {
    throw new ScoreFault('platform_removed', 'The platform was removed from Lectern');
  }
  const link = await findResourceLink(db, row.linkId);
  if (link === null) throw new ScoreFault('link_removed', 'The resource link was removed from Lectern');
  const lineItem = await findOrCreateLineItem(service, platform, link, signal);
  if (lineItem === null) return null;
  const { url: lineItemUrl, isOwn } = lineItem;
  try {
    const response = await post(service, platform, { ...row, lineItemUrl }, signal);
    return { lineItemUrl, response: { status: response.status, body: truncateBody(response.text) } };
  } catch (error) {
    if (!isOwn || !(error instanceof ScoreFault) || error.status !== 404) throw error;
    // Some platforms return 404 for unknown users too; the line item is still there then.
    await forgetLineItem(db, link._id, lineItemUrl);
    const again = await findOrCreateLineItem(service, platform, link, signal);
    if (again?.url === lineItemUrl) throw error;
    throw new ScoreFault('line_item_gone', 'The line item was removed from the platform', {
      status: 404,
      body: error.body ?? '',
    });
  }
}

type AddressedScore = ClaimedScore & { lineItemUrl: string };

/**
 * Posts a score. The first score of each finished attempt is a submission, which uses up one of the attempts that the
 * teacher allows. If the response to a submission was lost, 422 may mean that it was counted: then the score is posted
 * again without being a submission.
 */
async function post(
  service: GradeService,
  platform: TokenPlatform,
  score: AddressedScore,
  signal: AbortSignal,
): Promise<PlatformResponse> {
  const send = (isSubmission: boolean) =>
    callForScore(service, platform, {
      method: 'POST',
      url: scoresUrl(score.lineItemUrl),
      headers: { 'Content-Type': mediaTypes.score },
      body: scoreBody(score, isSubmission),
      signal,
    });
  const isSubmission = isNewAttempt(score);
  try {
    return await send(isSubmission);
  } catch (error) {
    const isUsedUp = error instanceof ScoreFault && error.status === 422;
    if (!isUsedUp || !isSubmission || !mayHaveArrived(score)) throw error;
    return send(false);
  }
}

/** Platforms answer a score with anything, such as `OK`. @throws {ScoreFault} for the page of another server */
async function callForScore(
  service: GradeService,
  platform: TokenPlatform,
  request: Parameters<typeof callGradeService>[3],
): Promise<PlatformResponse> {
  const response = await callGradeService(service, platform, [gradeScopes.score], request);
  const { text, headers } = response;
  // PHP names text/html unless told otherwise.
  const isPage = isWebPage({ contentType: headers.get('content-type'), text });
  if (isPage && responseJson(response) === undefined) throw unreadable(response, 'that of a gradebook');
  return response;
}

function isNewAttempt({ sent, wanted, lineItemUrl }: AddressedScore): boolean {
  const isKnown = sent !== null && sent.lineItemUrl === lineItemUrl;
  return !isKnown || Number(sent.finishedAt) !== Number(wanted.finishedAt);
}

/** Returns whether a request for this attempt got no response, or one that leaves open whether the platform took the score. */
function mayHaveArrived({ perhapsTaken, wanted }: ClaimedScore): boolean {
  return perhapsTaken !== null && Number(perhapsTaken) === Number(wanted.finishedAt);
}

/** Returns the scores endpoint of a line item. Its path goes before the query that the line item's URL may have. */
export function scoresUrl(lineItemUrl: string): string {
  const url = new URL(lineItemUrl);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/scores`;
  return url.href;
}

function scoreBody({ ltiUserId, lastTimestamp, wanted }: ClaimedScore, isSubmission: boolean): string {
  const { scoreGiven, scoreMaximum } = wanted;
  return JSON.stringify({
    userId: ltiUserId,
    timestamp: lastTimestamp.toISOString(),
    activityProgress: 'Completed',
    gradingProgress: 'FullyGraded',
    ...{ scoreGiven, scoreMaximum },
    ...(!isSubmission && { [canvasSubmission]: { new_submission: false } }),
  });
}
