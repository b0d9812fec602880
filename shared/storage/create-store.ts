import { join } from 'node:path';
import type { Config } from '../platform/config.ts';
import { mebibyte, partBytesOf } from './s3/object-writer.ts';
import { createDiskStore } from './disk-store.ts';
import type { LastUses, Store } from './store.ts';

/** The settings of a store. */
export type StoreConfig = Pick<Config, 'store' | 'storeDir' | 'export'>;

/** The smallest part of an upload; S3 accepts no less than 5 MiB. */
const minPartBytes = 8 * mebibyte;

/** The maximum size of the first parts. A build holds three in memory. */
const maxPartBytes = 32 * mebibyte;

/**
 * Returns part sizes for an archive of which only the maximum size is known. Parts grow only for limits that few
 * archives reach, so that no build holds large parts in memory.
 */
function partSizes(maxBytes: number): { partBytes: number; partsGrow: boolean } {
  const partBytes = Math.max(minPartBytes, partBytesOf(maxBytes));
  return { partBytes: Math.min(partBytes, maxPartBytes), partsGrow: partBytes > maxPartBytes };
}

/**
 * Creates the store that the settings name, without connecting or writing; `store.check()` does that.
 *
 * @param lastUses for a bucket.
 */
export async function createStore(
  { store, storeDir, ...config }: StoreConfig,
  lastUses: LastUses,
): Promise<Store> {
  if (store.kind === 'disk') return createDiskStore(storeDir);
  // Amazon's client takes 120 ms and 20 MB to load, which the disk store saves.
  const { createS3Store } = await import('./s3/s3-store.ts');
  return createS3Store(store, {
    lastUses,
    spoolFolder: join(storeDir, 'spool'),
    ...partSizes(config.export.maxBytes),
  });
}
