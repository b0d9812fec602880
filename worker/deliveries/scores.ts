import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import { findDueTargets } from '../../shared/deliveries/outbox.ts';
import { publishDueScores, scoreQueueName } from '../../shared/lti/scores/publish-to-outbox.ts';
import { sendScore } from '../../shared/lti/scores/send.ts';
import { ScoreFault } from '../../shared/lti/scores/service-request.ts';
import type { GradeService } from '../../shared/lti/scores/service-request.ts';
import type { Database } from '../../shared/models/database.ts';
import { findPlatformOfScore } from '../../shared/models/lti-score.ts';
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
import type { Logger } from '../../shared/platform/log.ts';
import type { DeliveryFormat, Outcome } from './delivery-sender.ts';
import type { Outbox } from './delivery-worker.ts';

/** The receipt for a score: its line item and the response. */
type ScoreReceipt = Pick<SentScore, 'lineItemUrl' | 'response'>;

/** The delay of a score while another process creates its line item. */
const lineItemMs = 1_000;

/** The outbox of scores: learners' grades for learning platforms, each platform a target. */
export function scoreOutbox(
  db: Database,
  service: GradeService,
  log: Logger,
): Outbox<LtiScore, ClaimedScore, ScoreReceipt> {
  return {
    format: scoreFormat(db, service),
    queueName: scoreQueueName,
    sweepIntervalMs: 30_000,
    async publishDue(signal) {
      const count = await publishDueScores(db, signal);
      if (count > 0)
        log.info({ count }, 'published scores that a stopped process had left out of the outbox');
    },
  };
}

/** Defines how scores are delivered. */
export function scoreFormat(
  db: Database,
  service: GradeService,
): DeliveryFormat<LtiScore, ClaimedScore, ScoreReceipt> {
  return {
    name: 'score',
    findTarget: (id) => findPlatformOfScore(db, id),
    maxConcurrent: 4,
    findDueTargets: () => findDueTargets(db.ltiScores, 'platformId'),
    claim: (which) => claimScore(db, 'id' in which ? which : { platformId: which.target }),
    async send(row, signal) {
      const receipt = await sendScore({ ...service, db }, row, signal);
      return receipt === null
        ? { outcome: 'line_item_busy', retryInMs: lineItemMs }
        : { outcome: 'sent', receipt };
    },
    internalFault: () => new ScoreFault('internal_error', 'A fault of Lectern; see its log'),
    timeoutFault: () => new ScoreFault('timeout', 'The platform took too long'),
    recordSent: (row, receipt) => recordSent(db, row, receipt),
    recordMoot: (row) => recordMoot(db, row),
    recordFailed: (row, failure) => recordFailed(db, row, failure),
    recordRetry: (row, retry) => recordRetry(db, row, retry),
    recordBusy: (row, delayMs) => recordBusy(db, row, delayMs),
    recordAborted: (row) => recordAborted(db, row),
  };
}

/** From a platform nearby to the time limit of an attempt. */
const attemptBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Adds this process's attempts to send scores to a registry; returns a function that counts an attempt. */
export function observeScoreAttempts(registry: Registry): (outcome: Outcome, seconds: number) => void {
  const attempts = new Histogram({
    name: 'lectern_lti_score_tries_seconds',
    help: 'Attempts to send a score to a learning platform, by outcome: sent, or the reason for the failure.',
    labelNames: ['outcome'],
    buckets: attemptBuckets,
    registers: [registry],
  });
  return (outcome, seconds) => attempts.observe({ outcome }, seconds);
}
