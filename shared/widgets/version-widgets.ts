import { isCoreWidget } from '../lessons/core-widgets.ts';
import type { Database } from '../models/database.ts';
import { findExternalWidgets } from '../models/external-widget.ts';
import { findNewestReleases, findReleases } from '../models/widget-release.ts';
import type { ExternalWidget } from '../models/external-widget.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import type { WidgetRelease } from '../models/widget-release.ts';
import type { Digest } from '../storage/store.ts';

/** The widget that a version uses for a type: a release, or one that its package names by URL. */
export type VersionWidget = WidgetRelease | ExternalWidget;

/** The source of a widget's file: the store's assets, or a URL. */
export type WidgetFileSource = { asset: Digest; url: null } | { asset: null; url: string };

/**
 * Returns the widgets that a version uses for these types, by type; types without a widget are missing. The order of
 * precedence:
 *
 * 1. the release that the version pins, even if its type has become a core type since
 * 2. the URL that its own package names
 * 3. the newest release: Lectern's for a core type, else the one that the organization registered
 */
export async function findVersionWidgets(
  db: Database,
  version: Pick<LessonVersion, '_id' | 'organizationId' | 'widgets'>,
  types: string[],
): Promise<Map<string, VersionWidget>> {
  const pinned = new Set(version.widgets.map(({ type }) => type));
  const open = types.filter((type) => !pinned.has(type));
  const external = await findExternalWidgets(db, version._id, open);
  const others = types.filter((type) => !external.has(type));
  const releases = others.length === 0 ? new Map() : await findVersionReleases(db, version, others);
  return new Map<string, VersionWidget>([...releases, ...external]);
}

/**
 * Returns the releases that a version uses for these types, by type. Looks up types that had no release at publication
 * again, because a widget that is registered later completes the version.
 */
async function findVersionReleases(
  db: Database,
  version: Pick<LessonVersion, 'organizationId' | 'widgets'>,
  types: string[],
): Promise<Map<string, WidgetRelease>> {
  const pinned = new Map(version.widgets.map((pin) => [pin.type, pin.widgetId]));
  // Releases of the organization come last, so that they replace Lectern's releases with the same name and files.
  const releases = await Promise.all(
    [null, version.organizationId].map(async (owner) => {
      const unpinned = types.filter((type) => !pinned.has(type) && isCoreWidget(type) === (owner === null));
      const ids = types.flatMap((type) => pinned.get(type) ?? []);
      const [byPin, newest] = await Promise.all([
        findReleases(db, owner, ids),
        findNewestReleases(db, owner, unpinned),
      ]);
      const isUsed = ({ type, widgetId }: WidgetRelease) =>
        pinned.get(type) === widgetId && (owner !== null || isCoreWidget(type));
      return [...byPin.filter(isUsed), ...newest.values()];
    }),
  );
  return new Map(releases.flat().map((release) => [release.type, release]));
}

/**
 * Returns the core types for which a version has its own widget: it was published when they were not core types
 * yet. These widgets are custom widgets in every respect.
 */
export async function findOwnTypes(
  db: Database,
  version: Pick<LessonVersion, '_id' | 'organizationId' | 'widgets'>,
  types: readonly string[],
): Promise<string[]> {
  const core = types.filter(isCoreWidget);
  const widgets = await findVersionWidgets(db, version, core);
  return [...widgets].flatMap(([type, widget]) => (widget.organizationId === null ? [] : type)).sort();
}

/** A page reads at most this many releases when it opens. */
const maxStyledTypes = 200;

/**
 * Returns the custom widget types of a version that have a stylesheet; null for a version with more than 200 types.
 *
 * @param custom all types of custom widgets in the version
 */
export async function findStyledTypes(
  db: Database,
  version: Pick<LessonVersion, '_id' | 'organizationId' | 'widgets'>,
  custom: string[],
): Promise<string[] | null> {
  if (custom.length > maxStyledTypes) return null;
  const widgets = await findVersionWidgets(db, version, custom);
  return [...widgets].flatMap(([type, widget]) => (widgetFileSources(widget).css === null ? [] : type));
}

/** Returns the sources of a widget's files; `css` is null for a widget without a stylesheet. */
export function widgetFileSources(widget: VersionWidget): {
  js: WidgetFileSource;
  css: WidgetFileSource | null;
} {
  const [js, css] = 'sourceUrl' in widget ? [widget.sourceUrl, widget.cssSourceUrl] : [widget.js, widget.css];
  return { js: sourceOf(js), css: css === null ? null : sourceOf(css) };
}

function sourceOf(file: Digest | string): WidgetFileSource {
  return typeof file === 'string' ? { asset: null, url: file } : { asset: file, url: null };
}
