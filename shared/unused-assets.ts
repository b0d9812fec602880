import type { Database } from './models/database.ts';
import { isMediaAsset } from './models/medium.ts';
import { isWidgetAsset } from './models/widget-release.ts';
import type { Store } from './storage/store.ts';

/** Deletes files of the store that no medium and no widget release refers to; the others stay. */
export async function deleteUnusedAssets(db: Database, store: Store, files: Iterable<string>): Promise<void> {
  for (const sha256 of new Set(files)) {
    const [ofMedium, ofWidget] = await Promise.all([isMediaAsset(db, sha256), isWidgetAsset(db, sha256)]);
    if (!ofMedium && !ofWidget) await store.assets.delete(sha256);
  }
}
