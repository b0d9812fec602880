import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 collect garbage so that this process needs little memory. By default, the heap may grow up to four times as
 * large as the live objects on machines with much memory.
 *
 * Marking begins when 90% of the growth is used. By default it begins when 16 MB are left, which in a small heap is so
 * early that the buffers of downloads cause several collections for each archive.
 *
 * @param growthPercent how much the heap may grow beyond the live objects; V8 collects more often if it is smaller
 */
export function limitGarbage(growthPercent: number): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  setFlagsFromString('--incremental-marking-soft-trigger=90');
  setFlagsFromString('--incremental-marking-hard-trigger=98');
}
