import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createDiskStore } from './disk-store.ts';
import type { Store } from './store.ts';

/** What a store is made from. */
export type StoreConfig = Pick<Config, 'store' | 'storeDir' | 'export' | 'download'>;

const MiB = 1024 ** 2;

/** The least that one part of an upload has; S3 takes no less than 5 MiB. */
const leastPartBytes = 8 * MiB;

/** Of the 10,000 parts that S3 takes: an archive is larger than its files by its directory. */
const usedParts = 9_000;

/** The store that the settings name. Nothing is connected or written; `store.check()` does that. */
export async function createStore({ store, storeDir, ...config }: StoreConfig): Promise<Store> {
  if (store.kind === 'disk') return createDiskStore(storeDir);
  // Amazon's client takes 120 ms and 20 MB to load, which files on a disk need not pay.
  const { createS3Store } = await import('./s3/s3-store.ts');
  const largest = Math.max(config.export.maxBytes, config.download.maxBytes);
  return createS3Store(store, {
    spoolFolder: join(storeDir, 'spool'),
    partBytes: Math.max(leastPartBytes, Math.ceil(largest / usedParts / MiB) * MiB),
  });
}
