import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { EventKind } from '../../shared/models/event-delivery.ts';
import type { Outcome } from './delivery-sender.ts';

/** From a receiver nearby to the time limit of an attempt. */
const attemptBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/**
 * Adds this process's attempts to deliver events to a registry; returns a function that counts the attempts of a kind.
 */
export function observeDeliveries(registry: Registry) {
  const attempts = new Histogram({
    name: 'lectern_delivery_tries_seconds',
    help: 'Attempts to deliver events, by kind and outcome: sent, or the reason for the failure.',
    labelNames: ['kind', 'outcome'],
    buckets: attemptBuckets,
    registers: [registry],
  });
  return (kind: EventKind) =>
    (outcome: Outcome, seconds: number): void =>
      attempts.observe({ kind, outcome }, seconds);
}
