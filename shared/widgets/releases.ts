import { createHash } from 'node:crypto';
import slugify from '@sindresorhus/slugify';
import type { Database } from '../models/database.ts';
import { registerWidgetRelease, savePackagedRelease } from '../models/widget-release.ts';
import type { WidgetRelease } from '../models/widget-release.ts';
import type { Store } from '../storage/store.ts';
import { storeAsset } from '../stored-assets.ts';

/** A widget's files, in the store. */
export type WidgetFiles = Pick<WidgetRelease, 'js' | 'css'>;

/** A release as its maker knows it. */
export type ReleasedWidget = Omit<WidgetRelease, 'releasedAt' | 'registered' | 'unusedSince'>;

/** Of the type in a release's id: with the rest it is a file name that any file system takes. */
const maxTypeLength = 100;

/**
 * The id of a release: the type in kebab-case (its first 100 characters), '-', and 8 hex digits of its files' digest.
 * Safe as a file name. Two types may have the same.
 */
export function widgetIdOf(type: string, { js, css }: WidgetFiles): string {
  const digest = createHash('sha256')
    .update(`${js.sha256}\n${css?.sha256 ?? ''}`)
    .digest('hex');
  const name = slugify(type).slice(0, maxTypeLength).replace(/-+$/, '');
  return `${name || 'widget'}-${digest.slice(0, 8)}`;
}

/** The same of a widget by URL, whose bytes nobody knows yet: the digits are of the digest of type and URLs. */
export function externalWidgetIdOf(type: string, sourceUrl: string, cssSourceUrl: string | null): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([type, sourceUrl, cssSourceUrl]))
    .digest('hex');
  return `${slugify(type) || 'widget'}-${digest.slice(0, 8)}`;
}

/** A widget's files, as streams; not every widget has a stylesheet. */
export interface WidgetSources {
  js: AsyncIterable<Uint8Array>;
  css: AsyncIterable<Uint8Array> | null;
}

/**
 * Keeps a release of a widget: its files in the store, then the release itself, which becomes its type's newest.
 * The same files again are the same release, and `created` is false. When a file fails, there is no release.
 *
 * @param organizationId null for a core widget.
 */
export async function releaseWidget(
  db: Database,
  store: Store,
  { organizationId, type, ...sources }: { organizationId: string | null; type: string } & WidgetSources,
): Promise<ReleasedWidget & { created: boolean }> {
  const files = await storeWidgetFiles(db, store, sources);
  const release = { organizationId, type, widgetId: widgetIdOf(type, files), ...files };
  return { ...release, created: await registerWidgetRelease(db, release) };
}

/** Stores files that nothing refers to yet. */
export async function storeWidgetFiles(
  db: Database,
  store: Store,
  sources: WidgetSources,
): Promise<WidgetFiles> {
  const keep = async (bytes: AsyncIterable<Uint8Array>) => {
    const { sha256, crc32, size } = await storeAsset(db, store, bytes);
    return { sha256, crc32, size };
  };
  const js = await keep(sources.js);
  return { js, css: sources.css === null ? null : await keep(sources.css) };
}

/** Makes a release of files that are stored, for the version of the package that brought them alone. */
export async function releaseForVersion(
  db: Database,
  { organizationId, type, js, css }: { organizationId: string; type: string } & WidgetFiles,
): Promise<ReleasedWidget> {
  const release = { organizationId, type, widgetId: widgetIdOf(type, { js, css }), js, css };
  await savePackagedRelease(db, release);
  return release;
}
