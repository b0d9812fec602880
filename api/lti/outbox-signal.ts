import type { Logger } from '../../shared/platform/log.ts';
import { publishScore } from '../../shared/lti/scores/publish-to-outbox.ts';
import { enqueueDeliveries } from '../../shared/deliveries/queue.ts';
import type { DeliveryQueue } from '../../shared/deliveries/queue.ts';
import type { Database } from '../../shared/models/database.ts';
import type { LtiLearner } from '../../shared/models/lti-progress.ts';
import { findWaitingScores } from '../../shared/models/lti-score.ts';

/**
 * Publishes the scores of saved records to the outbox (shared/deliveries/outbox.ts) after the response, and queues a job
 * that sends them. Learners neither wait for this nor see it fail: a worker's sweep publishes missed scores within half
 * a minute.
 */
export class OutboxSignal {
  readonly #deps: { db: Database; queue: DeliveryQueue; log: Logger };
  readonly #running = new Set<Promise<void>>();

  constructor(deps: { db: Database; queue: DeliveryQueue; log: Logger }) {
    this.#deps = deps;
  }

  /** Starts publishing the score of a learner whose record was saved, or whose line item was registered. */
  send(learner: LtiLearner): void {
    const running = this.#publish(learner)
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'could not publish a score to the outbox; a worker will do it');
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all scores are published. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #publish(learner: LtiLearner): Promise<void> {
    const { db, queue } = this.#deps;
    await publishScore(db, learner);
    await enqueueDeliveries(queue, await findWaitingScores(db, learner));
  }
}
