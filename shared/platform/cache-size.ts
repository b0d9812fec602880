/**
 * Returns options that limit an `LRUCache` to a number of entries. Its `max` does the same, but allocates room for all
 * of them at the start.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
