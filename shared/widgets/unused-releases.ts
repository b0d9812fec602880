import type { Database } from '../models/database.ts';
import { usesRelease } from '../models/lesson-version.ts';
import { deleteUnusedRelease, keepReleases, listUnusedReleases } from '../models/widget-release.ts';
import { noteAssets } from '../assets/stored-assets.ts';

/**
 * Removes the releases that a package brought and that no version uses: those of imports that failed. Their files go
 * a day later, where nothing else refers to them.
 *
 * @returns how many were removed.
 */
export async function removeUnusedReleases(db: Database, olderThanSeconds: number): Promise<number> {
  const before = new Date(Date.now() - olderThanSeconds * 1000);
  let removed = 0;
  for (const release of await listUnusedReleases(db, before)) {
    // A registered one, too: it is not looked at again. Old ones lack the field.
    if (release.registered !== false || (await usesRelease(db, release))) {
      await keepReleases(db, [release]);
      continue;
    }
    await noteAssets(
      db,
      [release.js, release.css].flatMap((file) => file?.sha256 ?? []),
    );
    if (await deleteUnusedRelease(db, release, before)) removed += 1;
  }
  return removed;
}
