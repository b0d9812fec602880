import { Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Database } from '../../shared/models/database.ts';
import { countScores } from '../../shared/models/lti-score.ts';
import type { TryOutcome } from './score-sender.ts';

/** From a platform near by to the deadline of a try. */
const tryBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What has become of scores for learning platforms, for Prometheus. */
export interface ScoreMetrics {
  tried(outcome: TryOutcome, seconds: number): void;
}

/**
 * Adds the tries of this process, and the state of the outbox, looked up when it is scraped. Every process reports
 * the same outbox: take the largest of the figures, not their sum. While MongoDB is away those are missing.
 */
export function registerScoreMetrics(registry: Registry, db: Database): ScoreMetrics {
  const registers = [registry];
  const tries = new Histogram({
    name: 'lectern_lti_score_tries_seconds',
    help: 'Tries to send a score to a learning platform, by outcome: sent, or what kept it from being sent.',
    labelNames: ['outcome'],
    buckets: tryBuckets,
    registers,
  });
  let looking: ReturnType<typeof countScores> | null = null;
  // Both ask when a scrape comes, for the same look.
  const figures = () => (looking ??= countScores(db).finally(() => (looking = null))).catch(() => null);
  new Gauge({
    name: 'lectern_lti_scores',
    help: 'Scores in the outbox: waiting to be sent, and failed, which are not tried again until something changes.',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await figures();
      this.reset();
      if (counts === null) return;
      this.set({ state: 'waiting' }, counts.waiting);
      this.set({ state: 'failed' }, counts.failed);
    },
  });
  new Gauge({
    name: 'lectern_lti_scores_oldest_due_seconds',
    help: 'For how long the score has been due that is overdue most; 0 for none. Pauses between tries do not count.',
    registers,
    async collect() {
      const counts = await figures();
      if (counts === null) this.remove();
      else this.set(counts.dueSince === null ? 0 : (Date.now() - counts.dueSince.getTime()) / 1000);
    },
  });
  return { tried: (outcome, seconds) => tries.observe({ outcome }, seconds) };
}
