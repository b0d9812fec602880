import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** How a run of an import ended. After `retried`, `given_back` and `lost`, a worker runs it again. */
export type ImportOutcome =
  | 'imported'
  | 'rejected'
  | 'canceled'
  | 'failed'
  | 'retried'
  | 'given_back'
  | 'lost';

/** From a small package to one of many gigabytes. */
const runBuckets = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** Adds this process's imports to a registry; returns a function that counts a run. */
export function observeImports(registry: Registry): (outcome: ImportOutcome, seconds: number) => void {
  const runs = new Histogram({
    name: 'lectern_import_seconds',
    help: 'Time of importing an uploaded package, by outcome.',
    labelNames: ['outcome'],
    buckets: runBuckets,
    registers: [registry],
  });
  return (outcome, seconds) => runs.observe({ outcome }, seconds);
}
