import type { Database } from '../models/database.ts';
import { deleteContent, listUnfinishedContent } from '../models/lesson-content.ts';
import { findVersion } from '../models/lesson-version.ts';
import { deleteMediaOfVersion, listMediaOfVersion } from '../models/medium.ts';
import type { Store } from '../storage/store.ts';
import { deleteUnusedAssets } from '../unused-assets.ts';

/**
 * Removes what an import wrote before its version: that is how an import that failed leaves nothing. Files that
 * something else refers to stay. Does nothing to a version that exists.
 */
export async function removeImport(db: Database, store: Store, versionId: string): Promise<void> {
  if ((await findVersion(db, versionId)) !== null) return;
  // Every medium is noted before its file is there, so these are all files.
  const media = await listMediaOfVersion(db, versionId);
  await deleteMediaOfVersion(db, versionId);
  await deleteUnusedAssets(
    db,
    store,
    media.flatMap((medium) => medium.asset?.sha256 ?? []),
  );
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
  const unfinished = await listUnfinishedContent(db, before);
  for (const versionId of unfinished) await removeImport(db, store, versionId);
  return unfinished.length;
}
