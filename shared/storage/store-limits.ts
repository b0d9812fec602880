import type { Config } from '../platform/config.ts';
import type { Store } from './store.ts';

/** The share of the filesystem for archives and downloads when STORE_MAX_BYTES is not set. */
const diskShare = 0.5;

/** The limit in a bucket, which has no size: 100 GiB. */
const bucketBytes = 100 * 1024 ** 3;

/** Limits of archives and downloaded media: total size, and time without use. */
export interface StoreLimits {
  /** 0 for no limit. */
  maxBytes: number;
  /** 0 for no limit. */
  maxAgeHours: number;
}

/**
 * Returns the configured limits. The default of STORE_MAX_BYTES is half the filesystem, or 100 GiB in a bucket.
 *
 * @throws when the store is unusable.
 */
export async function readStoreLimits(
  { storeLimits: { maxBytes, maxAgeHours } }: Pick<Config, 'storeLimits'>,
  store: Pick<Store, 'check'>,
): Promise<StoreLimits> {
  if (maxBytes !== undefined) return { maxBytes, maxAgeHours };
  const { sizeBytes } = await store.check();
  return { maxBytes: sizeBytes === null ? bucketBytes : Math.floor(sizeBytes * diskShare), maxAgeHours };
}
