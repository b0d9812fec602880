import { setFlagsFromString } from 'node:v8';

/**
 * Limits how far V8's heap may grow before a garbage collection, so that the process takes less memory. By default, it
 * may grow to four times the size of the live objects on machines with much memory.
 *
 * Marking begins when 90% of the growth is used. By default it begins when 16 MB are left, which in a small heap is so
 * early that the buffers of downloads cause seven to nine collections in a build of 64 MiB.
 *
 * @param heapGrowthPercent the growth relative to the live objects; with a smaller value, V8 collects more often
 */
export function limitHeapGrowth(heapGrowthPercent: number): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  setFlagsFromString('--incremental-marking-soft-trigger=90');
  setFlagsFromString('--incremental-marking-hard-trigger=98');
}
