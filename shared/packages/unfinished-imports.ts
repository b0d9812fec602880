import type { Database } from '../models/database.ts';
import { deleteExternalWidgetsOfVersion } from '../models/external-widget.ts';
import { deleteContent, listUnfinishedContent } from '../models/lesson-content.ts';
import { findVersion } from '../models/lesson-version.ts';
import { deleteMediaOfVersion, listMediaOfVersion } from '../models/medium.ts';
import { addOrphanCandidates } from '../assets/stored-assets.ts';

/**
 * Removes what an import wrote before its version: that is how an import that failed leaves nothing. Its files go a
 * day later, where nothing else refers to them. Does nothing to a version that exists.
 */
export async function removeImport(db: Database, versionId: string): Promise<void> {
  if ((await findVersion(db, versionId)) !== null) return;
  const media = await listMediaOfVersion(db, versionId);
  // While the media refer to them: one that dies in between leaves no file that nobody knows of.
  await addOrphanCandidates(
    db,
    media.flatMap((medium) => medium.asset?.sha256 ?? []),
  );
  await deleteMediaOfVersion(db, versionId);
  await deleteExternalWidgetsOfVersion(db, versionId);
  // The content last: it is what a sweep finds an unfinished import by.
  await deleteContent(db, versionId);
}

/** Removes imports whose process ended before they did. Gives how many there were. */
export async function removeUnfinishedImports(db: Database, olderThanSeconds: number): Promise<number> {
  const before = new Date(Date.now() - olderThanSeconds * 1000);
  const unfinished = await listUnfinishedContent(db, before);
  for (const versionId of unfinished) await removeImport(db, versionId);
  return unfinished.length;
}
