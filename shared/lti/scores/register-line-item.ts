import type { Database } from '../../models/database.ts';
import { markScoresDue } from '../../models/lti-progress.ts';
import type { LtiResourceLink } from '../../models/lti-resource-link.ts';
import { findOrCreateScore, followOtherRecord } from '../../models/lti-score.ts';
import type { LtiScore } from '../../models/lti-score.ts';
import { sendAgain } from '../../models/lti-score-changes.ts';
import { gradeScopes } from '../claims.ts';

/**
 * Sees that the scores of a learner reach the line item of a resource link; for each launch of a learner whose
 * progress is recorded, after the link was saved as this launch describes it. Where there is a record already, the
 * platform gets its score within a minute; so it does where it refused it before.
 *
 * @returns whether the platform takes scores for this link; where not, nothing is done.
 */
export async function expectScore(db: Database, link: LtiResourceLink, ltiUserId: string): Promise<boolean> {
  if (!takesScores(link)) return false;
  const { _id: linkId, organizationId, platformId, lessonId, contextId } = link;
  const learner = { organizationId, platformId, ltiUserId, lessonId, contextId };
  const row = await findOrCreateScore(db, { ...learner, linkId });
  const follows = row.lessonId === lessonId && row.contextId === contextId;
  if (!follows) await followOtherRecord(db, row._id, learner);
  // A row that knows what is wanted is told of every change. This one may have come after the record's last.
  if (!follows || row.wanted === null) await markScoresDue(db, learner);
  else if (row.state === 'failed' || isUnsent(row) || isElsewhere(row, link)) await sendAgain(db, [row._id]);
  return true;
}

/** Whether there was nowhere to send the score to, which may be another matter now. */
function isUnsent({ state, wanted, sent }: LtiScore): boolean {
  return (
    state === 'idle' &&
    (sent?.scoreGiven !== wanted?.scoreGiven || sent?.scoreMaximum !== wanted?.scoreMaximum)
  );
}

/** Whether the score went to another line item than the link has now. */
function isElsewhere({ sent }: LtiScore, { lineItemUrl }: LtiResourceLink): boolean {
  return sent !== null && lineItemUrl !== null && sent.lineItemUrl !== lineItemUrl;
}

/** A line item may be there, or be made, and scores may be sent to it. */
function takesScores({ scopes, lineItemUrl, lineItemsUrl, withoutColumn }: LtiResourceLink): boolean {
  if (!scopes.includes(gradeScopes.score)) return false;
  if (lineItemUrl !== null) return true;
  if (withoutColumn) return false;
  const finds = scopes.includes(gradeScopes.lineItem) || scopes.includes(gradeScopes.lineItemReadonly);
  return lineItemsUrl !== null && finds;
}
