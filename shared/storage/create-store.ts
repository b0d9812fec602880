import { join } from 'node:path';
import type { Config } from '../platform/config.ts';
import { mebibyte, partBytesOf } from './s3/object-writer.ts';
import { createDiskStore } from './disk-store.ts';
import type { Store } from './store.ts';

/** What a store is made from. */
export type StoreConfig = Pick<Config, 'store' | 'storeDir' | 'export'>;

/** The least that one part of an upload has; S3 takes no less than 5 MiB. */
const minPartBytes = 8 * mebibyte;

/** The most that the first parts have: a build has three in memory. */
const maxPartBytes = 32 * mebibyte;

/** How an archive is sent of which only the largest size is known: what few archives need, none has in memory. */
function partSizes(largestBytes: number): { partBytes: number; partsGrow: boolean } {
  const partBytes = Math.max(minPartBytes, partBytesOf(largestBytes));
  return { partBytes: Math.min(partBytes, maxPartBytes), partsGrow: partBytes > maxPartBytes };
}

/** The store that the settings name. Nothing is connected or written; `store.check()` does that. */
export async function createStore({ store, storeDir, ...config }: StoreConfig): Promise<Store> {
  if (store.kind === 'disk') return createDiskStore(storeDir);
  // Amazon's client takes 120 ms and 20 MB to load, which files on a disk need not pay.
  const { createS3Store } = await import('./s3/s3-store.ts');
  return createS3Store(store, {
    spoolFolder: join(storeDir, 'spool'),
    ...partSizes(config.export.maxBytes),
  });
}
