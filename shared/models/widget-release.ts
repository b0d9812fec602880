import { Schema } from 'mongoose';
import { schemaOptions, upsertSafely } from '../mongo.ts';
import type { Digest } from '../storage/store.ts';
import type { Database } from './database.ts';
import { digestSchema } from './medium.ts';

/** An immutable release of a widget. A core widget's release belongs to no organization, and serves all. */
export interface WidgetRelease {
  organizationId: string | null;
  /** The type in kebab-case, '-', and 8 hex digits of the digest of its files. */
  widgetId: string;
  type: string;
  js: Digest;
  css: Digest | null;
  /** When it became the newest release of its type. */
  releasedAt: Date;
}

export const widgetReleaseSchema = new Schema<WidgetRelease>(
  {
    organizationId: { type: String, default: null },
    widgetId: { type: String, required: true },
    type: { type: String, required: true },
    js: { type: digestSchema, required: true },
    css: { type: digestSchema, default: null },
    releasedAt: { type: Date, required: true },
  },
  schemaOptions,
);
// Two types that read the same in kebab-case, with the same files, share an id.
widgetReleaseSchema.index({ organizationId: 1, widgetId: 1, type: 1 }, { unique: true });
widgetReleaseSchema.index({ organizationId: 1, type: 1, releasedAt: -1 });
widgetReleaseSchema.index({ 'js.sha256': 1 });
widgetReleaseSchema.index({ 'css.sha256': 1 });

/** Stores a release, or makes one that is known already the newest again. False when it was known. */
export async function saveWidgetRelease(
  db: Database,
  release: Omit<WidgetRelease, 'releasedAt'>,
): Promise<boolean> {
  const { organizationId, widgetId, type, ...files } = release;
  const { upsertedCount } = await upsertSafely(() =>
    db.widgetReleases.updateOne(
      { organizationId, widgetId, type },
      { $set: { releasedAt: new Date() }, $setOnInsert: files },
      { upsert: true },
    ),
  );
  return upsertedCount === 1;
}

export async function deleteWidgetRelease(
  db: Database,
  { organizationId, widgetId, type }: Pick<WidgetRelease, 'organizationId' | 'widgetId' | 'type'>,
): Promise<void> {
  await db.widgetReleases.deleteOne({ organizationId, widgetId, type });
}

/** The newest release of each of these types that this organization has, by type. */
export async function findNewestReleases(
  db: Database,
  organizationId: string | null,
  types: string[],
): Promise<Map<string, WidgetRelease>> {
  const found = await db.widgetReleases
    .find({ organizationId, type: { $in: types } })
    .sort({ releasedAt: 1 })
    .lean<WidgetRelease[]>()
    .exec();
  return new Map(found.map((release) => [release.type, release]));
}

/** Releases by their ids. */
export async function findReleases(
  db: Database,
  organizationId: string | null,
  widgetIds: string[],
): Promise<WidgetRelease[]> {
  return db.widgetReleases
    .find({ organizationId, widgetId: { $in: widgetIds } })
    .lean<WidgetRelease[]>()
    .exec();
}

/** Those of some files of the store that any release lives in. */
export async function widgetAssetsAmong(db: Database, sha256s: string[]): Promise<string[]> {
  const [js, css] = await Promise.all([
    db.widgetReleases.distinct('js.sha256', { 'js.sha256': { $in: sha256s } }),
    db.widgetReleases.distinct('css.sha256', { 'css.sha256': { $in: sha256s } }),
  ]);
  return [...js, ...css];
}
