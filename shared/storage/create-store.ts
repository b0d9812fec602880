import { join } from 'node:path';
import type { Config } from '../platform/config.ts';
import { createDiskStore } from './disk-store.ts';
import type { LastUses, Store } from './store.ts';

/** The settings of a store. */
export type StoreConfig = Pick<Config, 'store' | 'storeDir' | 'export'>;

const mebibyte = 1024 ** 2;

/** The sizes of the parts of an upload; S3 accepts no less than 5 MiB, and a build holds three to four in memory. */
const minPartBytes = 8 * mebibyte;
const maxPartBytes = 32 * mebibyte;

/** Fewer than the 10,000 parts that S3 allows, because the directory makes an archive larger than its files. */
const usedParts = 9_000;

/** Returns the size of the parts of an archive of which only the maximum size is known. */
function partBytesOf(maxBytes: number): number {
  const partBytes = Math.ceil(maxBytes / usedParts / mebibyte) * mebibyte;
  return Math.min(Math.max(partBytes, minPartBytes), maxPartBytes);
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
    partBytes: partBytesOf(config.export.maxBytes),
  });
}
