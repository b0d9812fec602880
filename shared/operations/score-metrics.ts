import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Database } from '../models/database.ts';
import { countScores } from '../models/lti-score.ts';

/**
 * Adds the state of the outbox of scores to a registry, looked up when it is scraped. Every process that does so
 * reports the same outbox: take the largest of the figures, not their sum. While MongoDB is away those are missing.
 */
export function registerScoreMetrics(registry: Registry, db: Database): void {
  const registers = [registry];
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
}
