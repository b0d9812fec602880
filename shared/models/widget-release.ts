import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import type { Digest } from '../storage/store.ts';
import { digestSchema } from './library-file.ts';

/**
 * An immutable release of a widget. Releases of core widgets belong to no organization and serve all. A packaged
 * release serves only the versions that pin it.
 */
export interface WidgetRelease {
  organizationId: string | null;
  /** The type in kebab-case, '-', and 8 hex digits of the digest of its files. */
  widgetId: string;
  type: string;
  js: Digest;
  css: Digest | null;
  /** When it became the newest release of its type. */
  releasedAt: Date;
  /** Whether versions of other packages may pin it. */
  registered: boolean;
  /** The time since which possibly no version uses it, because of an interrupted import; null if a version uses it. */
  unusedSince: Date | null;
}

/** Releases per sweep. */
const unusedBatch = 1000;

export interface WidgetReleaseDb {
  widgetReleases: Model<WidgetRelease>;
}

export const widgetReleaseSchema = new Schema<WidgetRelease>(
  {
    organizationId: { type: String, default: null },
    widgetId: { type: String, required: true },
    type: { type: String, required: true },
    js: { type: digestSchema, required: true },
    css: { type: digestSchema, default: null },
    releasedAt: { type: Date, required: true },
    registered: { type: Boolean, required: true },
    unusedSince: { type: Date, default: null },
  },
  schemaOptions,
);
// Types with the same kebab-case name and the same files share an id.
widgetReleaseSchema.index({ organizationId: 1, widgetId: 1, type: 1 }, { unique: true });
widgetReleaseSchema.index({ organizationId: 1, type: 1, releasedAt: -1 });
widgetReleaseSchema.index(
  { unusedSince: 1 },
  { partialFilterExpression: { unusedSince: { $type: 'date' } } },
);
widgetReleaseSchema.index({ 'js.sha256': 1 });
widgetReleaseSchema.index({ 'css.sha256': 1 });

type NewRelease = Omit<WidgetRelease, 'releasedAt' | 'registered' | 'unusedSince'>;

/** Registers a release, or makes an existing one the newest again. Returns false if it existed. */
export async function registerWidgetRelease(db: WidgetReleaseDb, release: NewRelease): Promise<boolean> {
  const { organizationId, widgetId, type, ...files } = release;
  const { upsertedCount } = await upsertSafely(() =>
    db.widgetReleases.updateOne(
      { organizationId, widgetId, type },
      { $set: { releasedAt: new Date(), registered: true, unusedSince: null }, $setOnInsert: files },
      { upsert: true },
    ),
  );
  return upsertedCount === 1;
}

/** Stores a release for a package's version, which is inserted next; {@link keepReleases} must follow. */
export async function savePackagedRelease(db: WidgetReleaseDb, release: NewRelease): Promise<void> {
  const { organizationId, widgetId, type, ...files } = release;
  const now = new Date();
  await upsertSafely(() =>
    db.widgetReleases.updateOne(
      { organizationId, widgetId, type },
      { $set: { unusedSince: now }, $setOnInsert: { ...files, releasedAt: now, registered: false } },
      { upsert: true },
    ),
  );
}

type ReleaseName = Pick<WidgetRelease, 'organizationId' | 'widgetId' | 'type'>;

/** Records that a version uses these releases. */
export async function keepReleases(db: WidgetReleaseDb, releases: readonly ReleaseName[]): Promise<void> {
  if (releases.length === 0) return;
  const names = releases.map(({ organizationId, widgetId, type }) => ({ organizationId, widgetId, type }));
  await db.widgetReleases.updateMany({ $or: names }, { unusedSince: null });
}

/** Returns releases that interrupted imports may have left before a time. */
export function listUnusedReleases(db: WidgetReleaseDb, before: Date): Promise<WidgetRelease[]> {
  return (
    db.widgetReleases
      // With the type, MongoDB uses the partial index.
      .find({ unusedSince: { $type: 'date', $lt: before } })
      .limit(unusedBatch)
      .lean<WidgetRelease[]>()
      .exec()
  );
}

/** Deletes a release, unless it was registered, or an import stored it again since that time. */
export async function deleteUnusedRelease(
  db: WidgetReleaseDb,
  { organizationId, widgetId, type }: ReleaseName,
  before: Date,
): Promise<boolean> {
  const { deletedCount } = await db.widgetReleases.deleteOne({
    ...{ organizationId, widgetId, type },
    registered: false,
    unusedSince: { $lt: before },
  });
  return deletedCount === 1;
}

/** Returns the organization's newest registered release of each type, by type. */
export async function findNewestReleases(
  db: WidgetReleaseDb,
  organizationId: string | null,
  types: string[],
): Promise<Map<string, WidgetRelease>> {
  if (types.length === 0) return new Map();
  const found = await db.widgetReleases
    .find({ organizationId, type: { $in: types }, registered: { $ne: false } })
    .lean<WidgetRelease[]>()
    .exec();
  const newest = new Map<string, WidgetRelease>();
  for (const release of found) {
    const other = newest.get(release.type);
    if (other === undefined || other.releasedAt <= release.releasedAt) newest.set(release.type, release);
  }
  return newest;
}

/** Returns releases by their ids. */
export async function findReleases(
  db: WidgetReleaseDb,
  organizationId: string | null,
  widgetIds: string[],
): Promise<WidgetRelease[]> {
  if (widgetIds.length === 0) return [];
  return db.widgetReleases
    .find({ organizationId, widgetId: { $in: widgetIds } })
    .lean<WidgetRelease[]>()
    .exec();
}

/** Returns those of the files that any release uses. */
export async function assetsUsedByWidgets(db: WidgetReleaseDb, sha256s: string[]): Promise<string[]> {
  const [js, css] = await Promise.all([
    db.widgetReleases.distinct('js.sha256', { 'js.sha256': { $in: sha256s } }),
    db.widgetReleases.distinct('css.sha256', { 'css.sha256': { $in: sha256s } }),
  ]);
  return [...js, ...css];
}
