import { usedWidgetTypes } from '../../shared/lessons/blocks.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { mediaReferences } from '../../shared/lessons/media-references.ts';
import type { Database } from '../../shared/models/database.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { findMedia } from '../../shared/models/medium.ts';
import type { FoundMedium } from '../../shared/models/medium.ts';
import type { WidgetRelease } from '../../shared/models/widget-release.ts';
import type { Digest } from '../../shared/storage/store.ts';
import { findVersionReleases } from '../../shared/widgets/version-releases.ts';

/** A medium of the archive; `medium` is null when the content names an id that nobody knows. */
export interface PlannedMedium {
  id: string;
  /** In the archive, below its top-level folder: `media/<id>.<extension>`. */
  path: string;
  medium: FoundMedium | null;
}

/** A widget of the archive; `release` is null when the organization has none of that type. */
export interface PlannedWidget {
  type: string;
  release: WidgetRelease | null;
}

/** What goes into an archive, before any file was looked for. */
export interface ExportPlan {
  /** The archive's one top-level folder. */
  folder: string;
  /** By path. */
  media: PlannedMedium[];
  /** By widget id. */
  widgets: PlannedWidget[];
}

/** Finds the media and widget releases that a version uses: only those are in its archive. */
export async function planExport(
  db: Database,
  version: LessonVersion,
  content: LessonContent,
): Promise<ExportPlan> {
  const ids = mediaReferences(content);
  const known = await findMedia(db, { organizationId: version.organizationId, versionId: version._id }, ids);
  const media = ids.map((id): PlannedMedium => {
    const medium = known.get(id) ?? null;
    return { id, medium, path: `media/${id}.${medium?.extension ?? 'bin'}` };
  });
  return {
    folder: `${version.slug}-v${version.versionNumber}`,
    media: media.sort(byText((planned) => planned.path)),
    widgets: await planWidgets(db, version, usedWidgetTypes(content)),
  };
}

async function planWidgets(db: Database, version: LessonVersion, types: string[]): Promise<PlannedWidget[]> {
  const releases = await findVersionReleases(db, version, types);
  return types
    .map((type) => ({ type, release: releases.get(type) ?? null }))
    .sort(byText((planned) => planned.release?.widgetId ?? ''));
}

/** Compares by UTF-16 code units: the same order on every host, whatever its locale is. */
function byText<T>(textOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0);
}

/** The files of a release, by their paths in an archive. */
export function filesOfRelease(release: WidgetRelease): { path: string; file: Digest }[] {
  const files = [{ path: `widgets/${release.widgetId}.js`, file: release.js }];
  // By path: '.css' sorts before '.js'.
  if (release.css !== null) files.unshift({ path: `widgets/${release.widgetId}.css`, file: release.css });
  return files;
}
