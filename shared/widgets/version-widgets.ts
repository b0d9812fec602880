import { isCoreWidget } from '../lessons/core-widgets.ts';
import type { Database } from '../models/database.ts';
import { findExternalWidgets } from '../models/external-widget.ts';
import type { ExternalWidget } from '../models/external-widget.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import type { WidgetRelease } from '../models/widget-release.ts';
import type { Digest } from '../storage/store.ts';
import { findVersionReleases } from './version-releases.ts';

/** What a version uses for one of its widget types: a release, or what its package names by URL. */
export type VersionWidget = WidgetRelease | ExternalWidget;

/** Where a file of a widget is: in the store's assets, or behind a URL. */
export type WidgetFileSource = { asset: Digest; url: null } | { asset: null; url: string };

/**
 * The widgets that a version uses for some types, by type. A URL that its own package names comes before what the
 * organization registered, and after a release that the version pins; core types are Lectern's own. Types without any
 * widget are missing from the answer.
 */
export async function findVersionWidgets(
  db: Database,
  version: Pick<LessonVersion, '_id' | 'organizationId' | 'widgets'>,
  types: string[],
): Promise<Map<string, VersionWidget>> {
  const pinned = new Set(version.widgets.map(({ type }) => type));
  const open = types.filter((type) => !isCoreWidget(type) && !pinned.has(type));
  const external = await findExternalWidgets(db, version._id, open);
  const others = types.filter((type) => !external.has(type));
  const releases = others.length === 0 ? new Map() : await findVersionReleases(db, version, others);
  return new Map<string, VersionWidget>([...releases, ...external]);
}

/** Types that {@link findStyledTypes} looks up: a page that opens reads no more releases than these. */
const maxStyledTypes = 200;

/**
 * Returns those of a version's custom widget types that have a stylesheet; null for a version with too many types.
 *
 * @param types all types in the version, in any order and any number
 */
export async function findStyledTypes(
  db: Database,
  version: Pick<LessonVersion, '_id' | 'organizationId' | 'widgets'>,
  types: Iterable<string>,
): Promise<string[] | null> {
  const custom = [...new Set(types)].filter((type) => !isCoreWidget(type));
  if (custom.length > maxStyledTypes) return null;
  const widgets = await findVersionWidgets(db, version, custom);
  return [...widgets].flatMap(([type, widget]) => (widgetFileSources(widget).css === null ? [] : type));
}

/** Where the files of a widget are; `css` is null for a widget without a stylesheet. */
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
