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
  /** Of its files, below the top-level folder. Types whose releases have the same bytes may share them. */
  paths: { js: string; css: string | null };
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
  const planned = types
    .map((type) => ({ type, release: releases.get(type) ?? null }))
    .sort(byText(({ release }) => release?.widgetId ?? ''));
  const names = new FileNames();
  return planned.map(({ type, release }) => {
    const name = release === null ? '' : names.of(release);
    const css = release?.css ? `widgets/${name}.css` : null;
    return { type, release, paths: { js: `widgets/${name}.js`, css } };
  });
}

/**
 * File names for releases, which are their ids. Two types may have one id: their names in kebab-case are the same, and
 * so are their bytes, or at least the first 8 digits of their digests. Releases of other bytes get a number behind it.
 */
class FileNames {
  readonly #holders = new Map<string, string>();

  of({ widgetId, js, css }: WidgetRelease): string {
    const bytes = `${js.sha256} ${css?.sha256}`;
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? widgetId : `${widgetId}-${number}`;
      // Some file systems ignore case.
      const holder = this.#holders.get(name.toLowerCase()) ?? bytes;
      if (holder !== bytes) continue;
      this.#holders.set(name.toLowerCase(), bytes);
      return name;
    }
  }
}

/** Compares by UTF-16 code units: the same order on every host, whatever its locale is. */
function byText<T>(textOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0);
}

/** The files of the widgets, each path once. */
export function widgetFiles(widgets: readonly PlannedWidget[]): { path: string; file: Digest }[] {
  const files = new Map<string, Digest>();
  for (const { release, paths } of widgets) {
    if (release === null) continue;
    files.set(paths.js, release.js);
    if (paths.css !== null && release.css !== null) files.set(paths.css, release.css);
  }
  return [...files].map(([path, file]) => ({ path, file }));
}
