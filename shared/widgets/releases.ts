import { createHash } from 'node:crypto';
import slugify from '@sindresorhus/slugify';
import type { Database } from '../models/database.ts';
import { saveWidgetRelease } from '../models/widget-release.ts';
import type { WidgetRelease } from '../models/widget-release.ts';
import type { Digest, Store } from '../storage/store.ts';

type Files = Pick<WidgetRelease, 'js' | 'css'>;

/** The id of a release: the type in kebab-case, '-', and 8 hex digits of its files' digest. Safe as a file name. */
export function widgetIdOf(type: string, { js, css }: Files): string {
  const digest = createHash('sha256')
    .update(`${js.sha256}\n${css?.sha256 ?? ''}`)
    .digest('hex');
  return `${slugify(type) || 'widget'}-${digest.slice(0, 8)}`;
}

/**
 * Keeps a release of a widget: its files in the store, then the release itself, which becomes its type's newest.
 * The same files again are the same release, and `created` is false.
 *
 * @param organizationId null for a core widget.
 */
export async function releaseWidget(
  db: Database,
  store: Store,
  widget: {
    organizationId: string | null;
    type: string;
    js: AsyncIterable<Uint8Array>;
    css: AsyncIterable<Uint8Array> | null;
  },
): Promise<Omit<WidgetRelease, 'releasedAt'> & { created: boolean }> {
  const js = await keep(store, widget.js);
  const css = widget.css === null ? null : await keep(store, widget.css);
  const { organizationId, type } = widget;
  const release = { organizationId, type, widgetId: widgetIdOf(type, { js, css }), js, css };
  const created = await saveWidgetRelease(db, release);
  return { ...release, created };
}

async function keep(store: Store, bytes: AsyncIterable<Uint8Array>): Promise<Digest> {
  const { sha256, crc32, size } = await store.assets.put(bytes);
  return { sha256, crc32, size };
}
