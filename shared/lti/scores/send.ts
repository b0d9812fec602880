import { forgetLineItem } from '../../models/lti-line-item.ts';
import { findPlatform } from '../../models/lti-platform.ts';
import { findResourceLink } from '../../models/lti-resource-link.ts';
import type { SentScore } from '../../models/lti-score.ts';
import type { ClaimedScore } from '../../models/lti-score-changes.ts';
import type { Database } from '../../models/database.ts';
import { gradeScopes } from '../claims.ts';
import { lineItemOf } from './line-item.ts';
import { askGradeService, beginningOf, ScoreFault } from './service-request.ts';
import type { GradeService } from './service-request.ts';
import type { PlatformAnswer } from '../platform-requests.ts';
import type { TokenPlatform } from '../service-token.ts';

const scoreType = 'application/vnd.ims.lis.v1.score+json';

/** What Canvas, which counts submissions, wants to know beyond the standard. Other platforms ignore it. */
const canvasSubmission = 'https://canvas.instructure.com/lti/submission';

/**
 * Sends the score that a row wants, with the timestamp of its claim.
 *
 * @returns what the platform answered; null, and nothing was sent, while somebody else looks for the line item.
 * @throws {ScoreFault} when the platform does not take it; the signal's reason.
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
  const lineItem = await lineItemOf(service, platform, link, signal);
  if (lineItem === null) return null;
  const { url: lineItemUrl, isOwn } = lineItem;
  try {
    const answer = await post(service, platform, { ...row, lineItemUrl }, signal);
    return { lineItemUrl, response: { status: answer.status, body: beginningOf(answer) } };
  } catch (error) {
    if (!isOwn || !(error instanceof ScoreFault) || error.status !== 404) throw error;
    // Some platforms answer so for users whom they do not know: then the line item is found once more.
    await forgetLineItem(db, link._id, lineItemUrl);
    const again = await lineItemOf(service, platform, link, signal);
    if (again?.url === lineItemUrl) throw error;
    throw new ScoreFault('line_item_gone', 'The line item was removed from the platform', {
      status: 404,
      body: error.body ?? '',
    });
  }
}

/** A score on its way to a line item. */
type AddressedScore = ClaimedScore & { lineItemUrl: string };

/**
 * The first score of each finished attempt is a submission: it uses up one of those that a teacher allows. Where the
 * answer to one was lost, it may have done so already, and does not once more.
 */
async function post(
  service: GradeService,
  platform: TokenPlatform,
  score: AddressedScore,
  signal: AbortSignal,
): Promise<PlatformAnswer> {
  const send = (isSubmission: boolean) =>
    askGradeService(service, platform, [gradeScopes.score], {
      method: 'POST',
      url: scoresAddress(score.lineItemUrl),
      headers: { 'Content-Type': scoreType },
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

function isNewAttempt({ sent, wanted, lineItemUrl }: AddressedScore): boolean {
  const isKnown = sent !== null && sent.lineItemUrl === lineItemUrl;
  return !isKnown || Number(sent.finishedAt) !== Number(wanted.finishedAt);
}

/** A try at this attempt had no answer, or one that may hide that the score was taken. */
function mayHaveArrived({ perhapsTaken, wanted }: ClaimedScore): boolean {
  return perhapsTaken !== null && Number(perhapsTaken) === Number(wanted.finishedAt);
}

/** The address of a line item may have a query, behind which nothing may be put. */
export function scoresAddress(lineItemUrl: string): string {
  const url = new URL(lineItemUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/scores`;
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
