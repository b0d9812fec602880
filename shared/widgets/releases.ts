import { createHash } from 'node:crypto';
import slugify from '@sindresorhus/slugify';
import type { Database } from '../models/database.ts';
import {
  deleteUnusedRelease,
  keepReleases,
  listUnusedReleases,
  registerWidgetRelease,
  savePackagedRelease,
} from '../models/widget-release.ts';
import type { WidgetRelease } from '../models/widget-release.ts';
import type { Digest, Store } from '../storage/store.ts';
import { addOrphanCandidates, storeAsset } from '../assets/stored-assets.ts';
import { usesRelease } from '../models/lesson-version.ts';

/** A widget's files, in the store. */
export type WidgetFiles = Pick<WidgetRelease, 'js' | 'css'>;

/** A release without the fields that the database sets. */
export type ReleasedWidget = Omit<WidgetRelease, 'releasedAt' | 'registered' | 'unusedSince'>;

/** The maximum length of the type in a release's id, so that the widget's path is about as long as that of a media file. */
const maxTypeLength = 30;

/** Returns the id of a release, from the digest of its files. Two types may have the same id. */
export function widgetIdOf(type: string, { js, css }: WidgetFiles): string {
  return idOf(type, `${js.sha256}\n${css?.sha256 ?? ''}`);
}

/** Returns the id of a widget by URL, whose bytes are not known yet, from the digest of type and URLs. */
export function externalWidgetIdOf(type: string, sourceUrl: string, cssSourceUrl: string | null): string {
  return idOf(type, JSON.stringify([type, sourceUrl, cssSourceUrl]));
}

/** Returns the type in kebab-case (its first 30 characters), '-', and 8 hex digits of a digest: safe as a file name. */
function idOf(type: string, content: string): string {
  const name = slugify(type).slice(0, maxTypeLength).replace(/-+$/, '');
  const digest = createHash('sha256').update(content).digest('hex');
  return `${name || 'widget'}-${digest.slice(0, 8)}`;
}

/** A widget's files as streams; `css` is null for a widget without a stylesheet. */
export interface WidgetSources {
  js: AsyncIterable<Uint8Array>;
  css: AsyncIterable<Uint8Array> | null;
}

/**
 * Stores a widget's files, then registers their release as the newest of its type. The same files are the same
 * release: `created` is false then. If a file fails, no release is registered.
 *
 * @param organizationId null for a core widget
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

/**
 * Stores a widget's files, without a reference to them.
 *
 * @param announce as for {@link storeAsset}.
 */
export async function storeWidgetFiles(
  db: Database,
  store: Store,
  sources: WidgetSources,
  announce?: (digest: Digest) => Promise<void>,
): Promise<WidgetFiles> {
  const keep = async (bytes: AsyncIterable<Uint8Array>) => {
    const { sha256, crc32, size } = await storeAsset(db, store, bytes, announce);
    return { sha256, crc32, size };
  };
  const js = await keep(sources.js);
  return { js, css: sources.css === null ? null : await keep(sources.css) };
}

/** Makes a release of stored files that serves only the version of the package that contains them. */
export async function releaseForVersion(
  db: Database,
  { organizationId, type, js, css }: { organizationId: string; type: string } & WidgetFiles,
): Promise<ReleasedWidget> {
  const release = { organizationId, type, widgetId: widgetIdOf(type, { js, css }), js, css };
  await savePackagedRelease(db, release);
  return release;
}

/**
 * Removes the unused releases of packages, which failed imports leave behind. A later sweep removes their files unless
 * something else refers to them.
 *
 * @returns the number of removed releases
 */
export async function removeUnusedReleases(db: Database, olderThanSeconds: number): Promise<number> {
  const before = new Date(Date.now() - olderThanSeconds * 1000);
  let removed = 0;
  for (const release of await listUnusedReleases(db, before)) {
    // Kept releases are not checked again. Old documents lack the field `registered`.
    if (release.registered !== false || (await usesRelease(db, release))) {
      await keepReleases(db, [release]);
      continue;
    }
    await addOrphanCandidates(
      db,
      [release.js, release.css].flatMap((file) => file?.sha256 ?? []),
    );
    if (await deleteUnusedRelease(db, release, before)) removed += 1;
  }
  return removed;
}
