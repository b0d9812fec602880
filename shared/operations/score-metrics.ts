import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Database } from '../models/database.ts';
import { countScores } from '../models/lti-score.ts';

/**
 * Registers metrics of the outbox of scores, read at each scrape. All processes report the same outbox: use the maximum
 * of their figures, not the sum. While MongoDB is unavailable, the figures are missing.
 */
export function registerScoreMetrics(registry: Registry, db: Database): void {
  const registers = [registry];
  let reading: ReturnType<typeof countScores> | null = null;
  // Both gauges of a scrape share one read.
  const figures = () => (reading ??= countScores(db).finally(() => (reading = null))).catch(() => null);
  new Gauge({
    name: 'lectern_lti_scores',
    help: 'Scores in the outbox: waiting to be sent, and failed for good, until the learner or an operator changes something.',
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
    help: 'How long the most overdue score has been due; 0 for none. Delays between retries do not count.',
    registers,
    async collect() {
      const counts = await figures();
      if (counts === null) this.remove();
      else this.set(counts.dueSince === null ? 0 : (Date.now() - counts.dueSince.getTime()) / 1000);
    },
  });
}
