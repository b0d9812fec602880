import { deleteContent, listUnfinishedContent } from '../models/lesson-content.ts';
import { findVersion } from '../models/lesson-version.ts';
import { deleteMediaOfVersion, isMediaAsset, listMediaOfVersion } from '../models/medium.ts';
import type { Database } from '../models/database.ts';
import { isWidgetAsset } from '../models/widget-release.ts';
import type { Store } from '../storage/store.ts';

/**
 * Removes what an import wrote before its version: that is how an import that failed leaves nothing. Does nothing to
 * a version that exists.
 *
 * @param files of the store that the import may have created; those that something refers to stay.
 */
export async function removeImport(
  db: Database,
  store: Store,
  versionId: string,
  files: string[],
): Promise<void> {
  if ((await findVersion(db, versionId)) !== null) return;
  await deleteMediaOfVersion(db, versionId);
  for (const sha256 of new Set(files)) {
    const wanted = (await isMediaAsset(db, sha256)) || (await isWidgetAsset(db, sha256));
    if (!wanted) await store.assets.delete(sha256);
  }
  // The content last: it is what a sweep finds an unfinished import by.
  await deleteContent(db, versionId);
}

/** Removes imports whose process ended before they did. Gives how many there were. */
export async function removeUnfinishedImports(
  db: Database,
  store: Store,
  olderThanSeconds: number,
): Promise<number> {
  const before = new Date(Date.now() - olderThanSeconds * 1000);
  let removed = 0;
  for (const versionId of await listUnfinishedContent(db, before)) {
    const media = await listMediaOfVersion(db, versionId);
    await removeImport(
      db,
      store,
      versionId,
      media.flatMap((medium) => medium.asset?.sha256 ?? []),
    );
    removed += 1;
  }
  return removed;
}
