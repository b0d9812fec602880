import type { Logger } from '../../shared/platform/log.ts';
import { passOnScore } from '../../shared/lti/scores/publish-to-outbox.ts';
import { promptScores } from '../../shared/lti/scores/queue.ts';
import type { ScoreQueue } from '../../shared/lti/scores/queue.ts';
import type { Database } from '../../shared/models/database.ts';
import type { LtiLearner } from '../../shared/models/lti-progress.ts';
import { findWaitingScores } from '../../shared/models/lti-score.ts';

/**
 * Has the scores of learners sent soon after their records were saved, behind their backs: no learner waits for it,
 * or hears of its failure. What is left undone a worker finds within half a minute.
 */
export class ScoreNotices {
  readonly #deps: { db: Database; queue: ScoreQueue; log: Logger };
  readonly #running = new Set<Promise<void>>();

  constructor(deps: { db: Database; queue: ScoreQueue; log: Logger }) {
    this.#deps = deps;
  }

  /** Hears that the record of a learner was saved, or that a score of it is expected. */
  saved(learner: LtiLearner): void {
    const running = this.#passOn(learner)
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'a score was not passed on; a worker does it later');
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #passOn(learner: LtiLearner): Promise<void> {
    const { db, queue } = this.#deps;
    await passOnScore(db, learner);
    await promptScores(queue, await findWaitingScores(db, learner));
  }
}
