import type { Logger } from '../../shared/platform/log.ts';
import { enqueueDeliveries } from '../../shared/deliveries/queue.ts';
import type { DeliveryQueue } from '../../shared/deliveries/queue.ts';
import type { Database } from '../../shared/models/database.ts';
import type { LtiLearner } from '../../shared/models/lti-progress.ts';
import { findWaitingScores } from '../../shared/models/lti-score.ts';

/**
 * Queues jobs that send scores from the outbox (shared/deliveries/outbox.ts), after the response. Learners neither wait
 * for this nor see it fail: a worker's sweep sends them within half a minute.
 */
export class OutboxSignal {
  readonly #deps: { db: Database; queue: DeliveryQueue; log: Logger };
  readonly #running = new Set<Promise<void>>();

  constructor(deps: { db: Database; queue: DeliveryQueue; log: Logger }) {
    this.#deps = deps;
  }

  /** Starts queueing the scores of a learner whose grade has changed, or whose line item was registered. */
  send(learner: LtiLearner): void {
    const running = this.#enqueue(learner)
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'could not queue a score; a sweep will send it');
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all scores are queued. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #enqueue(learner: LtiLearner): Promise<void> {
    const { db, queue } = this.#deps;
    await enqueueDeliveries(queue, await findWaitingScores(db, learner));
  }
}
