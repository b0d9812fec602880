import type { Database } from '../../models/database.ts';
import type { LtiResourceLink } from '../../models/lti-resource-link.ts';
import { findOrCreateScore, followOtherRecord } from '../../models/lti-score.ts';
import type { LtiScore } from '../../models/lti-score.ts';
import { retryScores } from '../../models/lti-score-changes.ts';
import { gradeScopes } from '../claims.ts';
import { wantGradeOfRecord } from './grade.ts';

/**
 * Creates the outbox row that carries a learner's scores to the line item of a resource link. Each launch of a learner
 * whose progress is recorded calls this, after saving the link. The score of an existing record is sent within a
 * minute, even if the platform rejected it before.
 *
 * @returns false, and does nothing, if the platform accepts no scores for this link.
 */
export async function registerLineItem(
  db: Database,
  link: LtiResourceLink,
  ltiUserId: string,
): Promise<boolean> {
  if (!takesScores(link)) return false;
  const { _id: linkId, organizationId, platformId, lessonId, contextId } = link;
  const learner = { organizationId, platformId, ltiUserId, lessonId, contextId };
  const row = await findOrCreateScore(db, { ...learner, linkId });
  const follows = row.lessonId === lessonId && row.contextId === contextId;
  if (!follows) await followOtherRecord(db, row._id, learner);
  // Writes reach only rows that exist, so a new row may lack the grade.
  if (!follows || row.wanted === null) await wantGradeOfRecord(db, learner);
  else if (row.state === 'failed' || isUnsent(row) || isElsewhere(row, link))
    await retryScores(db, [row._id]);
  return true;
}

/** Whether the last try found no line item to send the score to; there may be one now. */
function isUnsent({ state, wanted, sent }: LtiScore): boolean {
  return (
    state === 'idle' &&
    (sent?.scoreGiven !== wanted?.scoreGiven || sent?.scoreMaximum !== wanted?.scoreMaximum)
  );
}

/** Whether the score went to a line item that is no longer the link's. */
function isElsewhere({ sent }: LtiScore, { lineItemUrl }: LtiResourceLink): boolean {
  return sent !== null && lineItemUrl !== null && sent.lineItemUrl !== lineItemUrl;
}

/** Whether Lectern may send scores, and has a line item or may find or create one. */
function takesScores({ scopes, lineItemUrl, lineItemsUrl, withoutColumn }: LtiResourceLink): boolean {
  if (!scopes.includes(gradeScopes.score)) return false;
  if (lineItemUrl !== null) return true;
  if (withoutColumn) return false;
  const finds = scopes.includes(gradeScopes.lineItem) || scopes.includes(gradeScopes.lineItemReadonly);
  return lineItemsUrl !== null && finds;
}
