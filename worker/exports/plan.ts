import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import type { OwnTypes } from '../../shared/lessons/core-widgets.ts';
import type { Database } from '../../shared/models/database.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { attributionsOf } from '../../shared/lessons/player-lesson.ts';
import type { MediaAttribution } from '../../shared/lessons/player-lesson.ts';
import { findMedia } from '../../shared/models/medium.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { findContentUses } from '../../shared/player/prepared-lessons.ts';
import type { FoundMedium } from '../../shared/models/medium.ts';
import { findVersionWidgets, widgetFileSources } from '../../shared/widgets/version-widgets.ts';
import type { VersionWidget, WidgetFileSource } from '../../shared/widgets/version-widgets.ts';

/** A media file of the archive. */
export interface PlannedMediaFile {
  id: string;
  /** Its path below the archive's top-level folder: `media/<id>.<extension>`. */
  path: string;
  /** Null when the content names an unknown id. */
  file: FoundMedium | null;
  /** Whether a custom widget uses it. */
  isOfCustomWidget: boolean;
}

/** A widget of the archive. All fields are null if the version has no widget of that type. */
export interface PlannedWidget {
  type: string;
  widget: VersionWidget | null;
  js: PlannedWidgetFile | null;
  css: PlannedWidgetFile | null;
}

/** A file of a widget: its source, and its path below the archive's top-level folder. */
export type PlannedWidgetFile = WidgetFileSource & {
  /** Widget types with the same files share it. */
  path: string;
};

/** The content of an archive, before any file is looked up. */
export interface ExportPlan {
  /** Sorted by path. */
  media: PlannedMediaFile[];
  /** Sorted by widget id. */
  widgets: PlannedWidget[];
  /** The pages of videos that the archive does not contain. */
  externalVideos: string[];
}

/** Finds the media and widgets that a version uses; only those go into its archive. */
export async function planExport(db: Database, version: LessonVersion): Promise<ExportPlan> {
  const uses = await findContentUses(db, version._id);
  if (uses === null) throw missingContent();
  const ids = uses.media;
  const known = await findMedia(db, { organizationId: version.organizationId, versionId: version._id }, ids);
  const widgets = await planWidgets(db, version, uses.widgetTypes);
  const ofCustom = new Set(uses.customMedia);
  const media = ids.map((id): PlannedMediaFile => {
    const file = known.get(id) ?? null;
    const path = `media/${id}.${file?.extension ?? 'bin'}`;
    return { id, file, path, isOfCustomWidget: ofCustom.has(id) };
  });
  const { externalVideos } = uses;
  return { media: media.sort(byText((planned) => planned.path)), widgets, externalVideos };
}

/** Returns the credits of the media. */
export function creditsOf({ media }: Pick<ExportPlan, 'media'>): MediaAttribution[] {
  return attributionsOf(media.map(({ id, file }) => ({ id, attributions: file?.attributions ?? [] })));
}

/** Checks whether a widget belongs to an organization: the player contains the others. */
export function isCustom({ widget }: Pick<PlannedWidget, 'widget'>): boolean {
  return widget === null || widget.organizationId !== null;
}

export function missingContent(): LecternError {
  return new LecternError('INVALID_CONTENT', 'The content of this version is missing.');
}

/** Returns the core types for which the version has its own widgets. */
export function ownTypesOf({ widgets }: ExportPlan): OwnTypes {
  return widgets.flatMap(({ type, widget }) =>
    isCoreWidget(type) && widget !== null && widget.organizationId !== null ? type : [],
  );
}

async function planWidgets(db: Database, version: LessonVersion, types: string[]): Promise<PlannedWidget[]> {
  const widgets = await findVersionWidgets(db, version, types);
  const names = new FileNames();
  return types
    .map((type) => ({ type, widget: widgets.get(type) ?? null }))
    .sort(byText(({ widget }) => widget?.widgetId ?? ''))
    .map(({ type, widget }) => {
      if (widget === null) return { type, widget, js: null, css: null };
      const name = names.of(widget);
      const { js, css } = widgetFileSources(widget);
      return {
        type,
        widget,
        js: { ...js, path: `widgets/${name}.js` },
        css: css && { ...css, path: `widgets/${name}.css` },
      };
    });
}

/**
 * Chooses the file names of widgets, which are their ids. Two types have the same id when they have the same name in
 * kebab-case and the first 8 digits of their digests are equal. If their files differ, the later one gets a number.
 */
class FileNames {
  readonly #holders = new Map<string, string>();

  of(widget: VersionWidget): string {
    const { js, css } = widgetFileSources(widget);
    const files = [js, css].map((file) => file?.asset?.sha256 ?? file?.url).join(' ');
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? widget.widgetId : `${widget.widgetId}-${number}`;
      // Some file systems are case-insensitive.
      const holder = this.#holders.get(name.toLowerCase()) ?? files;
      if (holder !== files) continue;
      this.#holders.set(name.toLowerCase(), files);
      return name;
    }
  }
}

/** Compares by UTF-16 code units, so that the order is the same on every host, whatever its locale. */
function byText<T>(textOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0);
}

/** Returns the files of the widgets, each path once. */
export function widgetFiles(widgets: readonly PlannedWidget[]): PlannedWidgetFile[] {
  const files = new Map<string, PlannedWidgetFile>();
  for (const { js, css } of widgets) {
    if (js !== null) files.set(js.path, js);
    if (css !== null) files.set(css.path, css);
  }
  return [...files.values()];
}
