import { randomUUID } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import { findDueTargets } from '../../shared/deliveries/outbox.ts';
import type { FailedAttempt } from '../../shared/deliveries/outbox.ts';
import type { LecternEvent } from '../../shared/events/event-types.ts';
import { sendScore } from '../../shared/lti/scores/send.ts';
import { ScoreFault } from '../../shared/lti/scores/service-request.ts';
import type { GradeService } from '../../shared/lti/scores/service-request.ts';
import type { Database } from '../../shared/models/database.ts';
import type { LtiScore, SentScore } from '../../shared/models/lti-score.ts';
import {
  claimScore,
  recordAborted,
  recordBusy,
  recordFailed,
  recordMoot,
  recordRetry,
  recordSent,
} from '../../shared/models/lti-score-changes.ts';
import type { ClaimedScore } from '../../shared/models/lti-score-changes.ts';
import { changeWithEvents } from '../../shared/outgoing/publish-events.ts';
import type { DeliveryFormat } from './delivery-sender.ts';

/** The receipt for a score: its line item and the response. */
type ScoreReceipt = Pick<SentScore, 'lineItemUrl' | 'response'>;

/** The delay of a score while another process creates its line item. */
const lineItemMs = 1_000;

/** Defines how scores are delivered: learners' grades for learning platforms, each platform a target. */
export function scoreFormat(db: Database, service: GradeService): DeliveryFormat<ClaimedScore, ScoreReceipt> {
  return {
    name: 'score',
    maxConcurrent: 4,
    findDueTargets: () => findDueTargets(db.ltiScores, 'platformId'),
    claim: (platformId) => claimScore(db, { platformId }),
    async send(row, signal) {
      const receipt = await sendScore({ ...service, db }, row, signal);
      return receipt === null
        ? { outcome: 'line_item_busy', retryInMs: lineItemMs }
        : { outcome: 'sent', receipt };
    },
    internalFault: () => new ScoreFault('internal_error', 'A fault of Lectern; see its log'),
    timeoutFault: () => new ScoreFault('timeout', 'The platform took too long'),
    record(row, end) {
      switch (end.to) {
        case 'delivered':
          return recordSent(db, row, end.receipt);
        case 'dismissed':
          return recordMoot(db, row);
        case 'failed':
          return endWithEvent(db, row, end.failure, (session) => recordFailed(db, row, end.failure, session));
        case 'retried':
          return endWithEvent(db, row, end.failure, (session) => recordRetry(db, row, end, session));
        case 'postponed':
          return recordBusy(db, row, end.delayMs);
        case 'given back':
          return recordAborted(db, row);
      }
    },
  };
}

/** Ends a failed attempt, and reports a score that is not retried. */
function endWithEvent(
  db: Database,
  { _id: scoreId, organizationId, lessonId, ltiUserId, platformId, contextId }: LtiScore,
  { at, reason, status: httpStatus }: FailedAttempt,
  end: (session?: ClientSession) => Promise<LtiScore | null>,
): Promise<LtiScore | null> {
  const event: LecternEvent = {
    ...{ type: 'lti.grade.failed', key: randomUUID(), at, organizationId, lessonId, learnerId: ltiUserId },
    data: { organizationId, lessonId, ltiUserId, platformId, contextId, scoreId, reason, httpStatus },
  };
  const about = { organizationId, types: ['lti.grade.failed' as const] };
  return changeWithEvents(db, about, end, (row) => (row?.state === 'failed' ? [event] : []));
}
