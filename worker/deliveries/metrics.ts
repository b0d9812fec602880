import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { TryOutcome } from './score-sender.ts';

/** From a platform near by to the deadline of a try. */
const tryBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What has become of scores that this process tried to send to learning platforms, for Prometheus. */
export interface ScoreTries {
  tried(outcome: TryOutcome, seconds: number): void;
}

/** Adds the tries of this process to a registry. */
export function registerScoreTries(registry: Registry): ScoreTries {
  const tries = new Histogram({
    name: 'lectern_lti_score_tries_seconds',
    help: 'Tries to send a score to a learning platform, by outcome: sent, or what kept it from being sent.',
    labelNames: ['outcome'],
    buckets: tryBuckets,
    registers: [registry],
  });
  return { tried: (outcome, seconds) => tries.observe({ outcome }, seconds) };
}
