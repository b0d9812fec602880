import type { Database } from '../models/database.ts';
import { deleteExternalWidgetsOfVersion } from '../models/external-widget.ts';
import { deleteContent, listUnfinishedContent, markContentFinished } from '../models/lesson-content.ts';
import { findVersion } from '../models/lesson-version.ts';
import { addToLibrary, deleteMediaOfVersion, listMediaOfVersion } from '../models/medium.ts';
import { deleteReport } from '../models/conversion-report.ts';
import { deletePrepared } from '../models/prepared-lesson.ts';
import { addOrphanCandidates } from '../assets/stored-assets.ts';

/**
 * Removes the documents that an import wrote before its version. A sweep removes its files a day later, unless something
 * else refers to them. Returns false, and does nothing, if the version exists.
 */
export async function removeImport(db: Database, versionId: string): Promise<boolean> {
  if ((await findVersion(db, versionId)) !== null) return false;
  const media = await listMediaOfVersion(db, versionId);
  // Before the media are removed, so that a crash leaves no unreferenced file behind.
  await addOrphanCandidates(
    db,
    media.flatMap((medium) => medium.asset?.sha256 ?? []),
  );
  await deleteMediaOfVersion(db, versionId);
  await deleteExternalWidgetsOfVersion(db, versionId);
  await deletePrepared(db, versionId);
  await deleteReport(db, versionId);
  // The content comes last, because the sweep finds unfinished imports by their content.
  await deleteContent(db, versionId);
  return true;
}

/** Removes imports that their process did not finish. Returns their number. */
export async function removeUnfinishedImports(db: Database, olderThanSeconds: number): Promise<number> {
  const before = new Date(Date.now() - olderThanSeconds * 1000);
  let removed = 0;
  for (const versionId of await listUnfinishedContent(db, before)) {
    if (await removeImport(db, versionId)) removed += 1;
    // The import ended after it had stored the version.
    else {
      await addToLibrary(db, versionId);
      await markContentFinished(db, versionId);
    }
  }
  return removed;
}
