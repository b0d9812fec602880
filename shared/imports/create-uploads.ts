import type { LessonImportDb } from '../models/lesson-import.ts';
import type { Config } from '../platform/config.ts';
import type { StoreSettings } from '../platform/store-settings.ts';
import type { Uploads } from './uploads.ts';

/** The settings of uploads. */
export type UploadsConfig = Pick<Config, 'storeDir'> & { store: StoreSettings };

/** Returns the uploads of the configured store. */
export async function createUploads(config: UploadsConfig, db: LessonImportDb): Promise<Uploads> {
  if (config.store.kind === 's3') {
    // Amazon's client takes 120 ms and 20 MB to load, which the disk store saves.
    const { createBucketUploads } = await import('./bucket-uploads.ts');
    return createBucketUploads(config.store, config.storeDir);
  }
  const { createDiskUploads } = await import('./disk-uploads.ts');
  return createDiskUploads(config.storeDir, db);
}
