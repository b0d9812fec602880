import { Schema } from 'mongoose';
import type { ClientSession, Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';
import { batched } from './batched.ts';
import { lessonExists } from './lesson.ts';
import type { LessonDb } from './lesson.ts';

export const versionStatuses = ['draft', 'published', 'unpublished'] as const;
export type VersionStatus = (typeof versionStatuses)[number];

/** A widget type, and the release that a version uses permanently. */
export interface WidgetPin {
  type: string;
  widgetId: string;
}

/** A version of a lesson. Its content never changes and is stored separately (lesson-content.ts). */
export interface LessonVersion {
  _id: string;
  lessonId: string;
  organizationId: string;
  versionNumber: number;
  status: VersionStatus;
  slug: string;
  title: string;
  totalSections: number;
  totalSteps: number;
  /** Reasons why the content is not playable, for people; determined once, because content never changes. */
  problems: string[];
  widgets: WidgetPin[];
  /** The id of the media file that stands for it in lists; null for none. */
  picture: string | null;
  /** The size of its content as stored, in bytes. */
  contentBytes: number;
  createdAt: Date;
  /** The time of the last publication; null before the first. */
  publishedAt: Date | null;
  /** The import over HTTP that made it, so that a repeated import finds it; missing otherwise. */
  importId?: string;
}

export interface LessonVersionDb {
  lessonVersions: Model<LessonVersion>;
}

export const lessonVersionSchema = new Schema<LessonVersion>(
  {
    _id: { type: String, required: true },
    lessonId: { type: String, required: true },
    organizationId: { type: String, required: true },
    versionNumber: { type: Number, required: true },
    status: { type: String, required: true, enum: versionStatuses },
    slug: { type: String, required: true },
    title: { type: String, required: true },
    totalSections: { type: Number, required: true },
    totalSteps: { type: Number, required: true },
    problems: { type: [String], default: [] },
    widgets: {
      type: [new Schema<WidgetPin>({ type: { type: String }, widgetId: String }, { _id: false })],
      default: [],
    },
    picture: { type: String, default: null },
    contentBytes: { type: Number, default: 0 },
    createdAt: { type: Date, required: true, default: () => new Date() },
    publishedAt: { type: Date, default: null },
    importId: String,
  },
  schemaOptions,
);
lessonVersionSchema.index({ lessonId: 1, versionNumber: 1 }, { unique: true });
// Ordered so that finding the newest published version reads one entry.
lessonVersionSchema.index({ lessonId: 1, status: 1, publishedAt: -1, versionNumber: -1 });
lessonVersionSchema.index({ organizationId: 1, 'widgets.widgetId': 1 });
// Its name differs from that of an earlier index of the field, which databases of developers have.
lessonVersionSchema.index({ importId: 1 }, { unique: true, sparse: true, name: 'importId' });

/** Inserts a version. Fails with a duplicate key if its id or number is taken. */
export async function insertVersion(
  db: LessonVersionDb,
  version: Omit<LessonVersion, 'createdAt'>,
): Promise<LessonVersion> {
  return (await db.lessonVersions.create(version)).toObject();
}

/** Deletes a version whose import failed. */
export async function deleteVersion(db: LessonVersionDb, versionId: string): Promise<void> {
  await db.lessonVersions.deleteOne({ _id: versionId });
}

export function findVersion(db: LessonVersionDb, versionId: string): Promise<LessonVersion | null> {
  return db.lessonVersions.findById(versionId).lean<LessonVersion>().exec();
}

/** Returns the version that an import over HTTP made; null if there is none. */
export function findImportedVersion(db: LessonVersionDb, importId: string): Promise<LessonVersion | null> {
  return db.lessonVersions.findOne({ importId }).lean<LessonVersion>().exec();
}

/** Returns the ids that belong to a version. */
export async function existingVersions(db: LessonVersionDb, versionIds: string[]): Promise<Set<string>> {
  return new Set(await db.lessonVersions.distinct('_id', { _id: { $in: versionIds } }).exec());
}

/** Returns the organization's published version of a lesson that is not deleted; otherwise null. */
export async function findPublishedVersion(
  db: LessonVersionDb & LessonDb,
  organizationId: string,
  lessonId: string,
  versionId: string,
): Promise<LessonVersion | null> {
  return ofLesson(db, organizationId, lessonId, findPublished(db, versionId));
}

/** Like {@link findPublishedVersion}, but the version may have been unpublished since. */
export async function findOncePublished(
  db: LessonVersionDb & LessonDb,
  organizationId: string,
  lessonId: string,
  versionId: string,
): Promise<LessonVersion | null> {
  return ofLesson(db, organizationId, lessonId, findWithPublication(db, versionId));
}

/** Returns the published version of a lesson that is not deleted, of any organization, for a signed URL. */
export async function findSignedVersion(
  db: LessonVersionDb & LessonDb,
  lessonId: string,
  versionId: string,
): Promise<LessonVersion | null> {
  const version = await findPublished(db, versionId);
  if (version === undefined) return null;
  return ofLesson(db, version.organizationId, lessonId, Promise.resolve(version));
}

/** Like {@link findSignedVersion}, for the signed URL of a preview: the version may be a draft. */
export async function findSignedPreview(
  db: LessonVersionDb & LessonDb,
  lessonId: string,
  versionId: string,
): Promise<LessonVersion | null> {
  const version = await findPreviewable(db, versionId);
  if (version === null) return null;
  return ofLesson(db, version.organizationId, lessonId, Promise.resolve(version));
}

/** Like {@link findSignedVersion}, for the signed URL of a draft that began with the version, in whatever state that is. */
export async function findSignedDraft(
  db: LessonVersionDb & LessonDb,
  lessonId: string,
  versionId: string,
): Promise<LessonVersion | null> {
  const version = await findVersion(db, versionId);
  if (version === null) return null;
  return ofLesson(db, version.organizationId, lessonId, Promise.resolve(version));
}

/** Returns the published version to play: the pinned one, or else the newest. Null as above. */
export async function findPlayedVersion(
  db: LessonVersionDb & LessonDb,
  organizationId: string,
  lessonId: string,
  pinned: string | null,
): Promise<LessonVersion | null> {
  const version = pinned === null ? findNewestPublished(db, lessonId) : findPublished(db, pinned);
  return ofLesson(db, organizationId, lessonId, version);
}

/** Returns the version of a preview: published, or a draft. Null as above. */
export async function findPreviewedVersion(
  db: LessonVersionDb & LessonDb,
  organizationId: string,
  lessonId: string,
  versionId: string,
): Promise<LessonVersion | null> {
  return ofLesson(db, organizationId, lessonId, findPreviewable(db, versionId));
}

async function findPreviewable(db: LessonVersionDb, versionId: string): Promise<LessonVersion | null> {
  const version = await findVersion(db, versionId);
  return version !== null && isPreviewable(version) ? version : null;
}

/** Returns whether a preview may show a version. An unpublished version is not available to anyone. */
export function isPreviewable({ status }: Pick<LessonVersion, 'status'>): boolean {
  return status === 'published' || status === 'draft';
}

async function ofLesson(
  db: LessonVersionDb & LessonDb,
  organizationId: string,
  lessonId: string,
  searched: Promise<LessonVersion | null | undefined>,
): Promise<LessonVersion | null> {
  const [version, exists] = await Promise.all([searched, lessonExists(db, organizationId, lessonId)]);
  return exists && version?.lessonId === lessonId && version.organizationId === organizationId
    ? version
    : null;
}

const findPublished = batchedLookup({ status: 'published' });
const findWithPublication = batchedLookup({ publishedAt: { $ne: null } });

/** Returns a lookup by id of the versions that match a filter. */
function batchedLookup(filter: Record<string, unknown>) {
  return batched(async (db: LessonVersionDb, versionIds: readonly string[]) => {
    const versions = await db.lessonVersions
      .find({ ...filter, _id: { $in: [...new Set(versionIds)] } })
      .lean<LessonVersion[]>()
      .exec();
    const byId = new Map(versions.map((version) => [version._id, version]));
    return (versionId: string) => byId.get(versionId);
  });
}

const findNewestPublished = batched(async (db: LessonVersionDb, lessonIds: readonly string[]) => {
  const versions = await db.lessonVersions.aggregate<LessonVersion>([
    { $match: { lessonId: { $in: [...new Set(lessonIds)] }, status: 'published' } },
    { $sort: { lessonId: 1, publishedAt: -1, versionNumber: -1 } },
    { $group: { _id: '$lessonId', newest: { $first: '$$ROOT' } } },
    { $replaceRoot: { newRoot: '$newest' } },
  ]);
  const byLesson = new Map(versions.map((version) => [version.lessonId, version]));
  return (lessonId) => byLesson.get(lessonId);
});

/** Returns the versions of lessons, ordered by lesson and number. */
export function listVersions(db: LessonVersionDb, lessonIds: string[]): Promise<LessonVersion[]> {
  return db.lessonVersions
    .find({ lessonId: { $in: lessonIds } })
    .sort({ lessonId: 1, versionNumber: 1 })
    .lean<LessonVersion[]>()
    .exec();
}

/** Whether a version of the organization is pinned to a release. */
export async function usesRelease(
  db: LessonVersionDb,
  { organizationId, type, widgetId }: { organizationId: string | null } & WidgetPin,
): Promise<boolean> {
  const found = await db.lessonVersions.exists({
    organizationId,
    widgets: { $elemMatch: { type, widgetId } },
  });
  return found !== null;
}

/** The highest version number of a lesson; 0 when it has no version. */
export async function lastVersionNumber(db: LessonVersionDb, lessonId: string): Promise<number> {
  const last = await db.lessonVersions
    .findOne({ lessonId })
    .sort({ versionNumber: -1 })
    .lean<LessonVersion>()
    .exec();
  return last?.versionNumber ?? 0;
}

/** Publishes a version with its widget releases. Null if it was published already. */
export function markVersionPublished(
  db: LessonVersionDb,
  versionId: string,
  widgets: WidgetPin[],
  session?: ClientSession,
): Promise<LessonVersion | null> {
  return db.lessonVersions
    .findOneAndUpdate(
      { _id: versionId, status: { $ne: 'published' } },
      { $set: { status: 'published', publishedAt: new Date(), widgets } },
      { returnDocument: 'after', session },
    )
    .lean<LessonVersion>()
    .exec();
}

/** Unpublishes versions; returns those that were published. */
export async function markVersionsUnpublished(
  db: LessonVersionDb,
  filter: { lessonId: string; versionId?: string },
  session?: ClientSession,
): Promise<LessonVersion[]> {
  const published = {
    lessonId: filter.lessonId,
    status: 'published',
    ...(filter.versionId !== undefined && { _id: filter.versionId }),
  } as const;
  const found = await db.lessonVersions.find(published, null, { session }).lean<LessonVersion[]>().exec();
  const which = { _id: { $in: found.map(({ _id }) => _id) } };
  await db.lessonVersions.updateMany(which, { $set: { status: 'unpublished' } }, { session });
  return found;
}
