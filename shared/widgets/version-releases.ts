import { isCoreWidget } from '../lessons/core-widgets.ts';
import type { Database } from '../models/database.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { findNewestReleases, findReleases } from '../models/widget-release.ts';
import type { WidgetRelease } from '../models/widget-release.ts';

/**
 * The releases that a version uses of some widget types, by type: those that publishing pinned; a type that had none
 * then is looked up anew, so that it can be mended. Types without any are missing from the answer.
 */
export async function findVersionReleases(
  db: Database,
  version: Pick<LessonVersion, 'organizationId' | 'widgets'>,
  types: string[],
): Promise<Map<string, WidgetRelease>> {
  const pinned = new Map(version.widgets.map((pin) => [pin.type, pin.widgetId]));
  const releases = await Promise.all(
    [null, version.organizationId].map(async (owner) => {
      const ofOwner = types.filter((type) => isCoreWidget(type) === (owner === null));
      const ids = ofOwner.flatMap((type) => pinned.get(type) ?? []);
      const unpinned = ofOwner.filter((type) => !pinned.has(type));
      const [byPin, newest] = await Promise.all([
        findReleases(db, owner, ids),
        findNewestReleases(db, owner, unpinned),
      ]);
      return [...byPin, ...newest.values()];
    }),
  );
  return new Map(releases.flat().map((release) => [release.type, release]));
}
