import type { Config } from '../platform/config.ts';
import type { Store } from './store.ts';

/** The part of its filesystem that archives and downloaded media may take where STORE_MAX_BYTES is not set. */
const diskPart = 0.5;

/** What they may take in a bucket, which has no size: 100 GiB. */
const bucketBytes = 100 * 1024 ** 3;

/** How much of the store archives and downloaded media may take, and for how long without use. */
export interface StoreLimits {
  /** 0 for no limit. */
  maxBytes: number;
  /** 0 for no limit. */
  maxAgeHours: number;
}

/**
 * Returns the limits that are set; where STORE_MAX_BYTES is not, half the size of the store's filesystem, or 100 GiB in
 * a bucket.
 *
 * @throws when the store cannot be used.
 */
export async function readStoreLimits(
  { storeLimits: { maxBytes, maxAgeHours } }: Pick<Config, 'storeLimits'>,
  store: Pick<Store, 'check'>,
): Promise<StoreLimits> {
  if (maxBytes !== undefined) return { maxBytes, maxAgeHours };
  const { sizeBytes } = await store.check();
  return { maxBytes: sizeBytes === null ? bucketBytes : Math.floor(sizeBytes * diskPart), maxAgeHours };
}
