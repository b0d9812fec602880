import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import type { Attribution } from '../lessons/player-lesson.ts';
import { schemaOptions } from '../platform/mongo.ts';
import type { Digest } from '../storage/store.ts';
import { existingVersions } from './lesson-version.ts';
import type { LessonVersionDb } from './lesson-version.ts';
import { groupsOf } from '../platform/groups.ts';
import { addLibraryFiles, attributionsOfFile, digestSchema, findLibraryFiles } from './library-file.ts';
import type { LibraryFileDb } from './library-file.ts';

/**
 * A media file of one version of a lesson. Each version has its own rows, so that replacing a picture under its id in a
 * later version does not change published ones. Ids are unique per organization.
 */
export interface Medium {
  organizationId: string;
  versionId: string;
  mediaId: string;
  mimeType: string;
  /** The extension of its file name in an archive, without the dot. */
  extension: string;
  /** The uploaded file; null for an external media file. */
  asset: Digest | null;
  /** The URL of an external media file; null for an uploaded one. */
  sourceUrl: string | null;
  attributions: readonly Attribution[];
  createdAt: Date;
}

const attributionSchema = new Schema<Attribution>(
  { text: String, url: String, portfolioUrl: String },
  { _id: false },
);

export interface MediumDb {
  media: Model<Medium>;
}

export const mediumSchema = new Schema<Medium>(
  {
    organizationId: { type: String, required: true },
    versionId: { type: String, required: true },
    mediaId: { type: String, required: true },
    mimeType: { type: String, required: true },
    extension: { type: String, required: true },
    asset: { type: digestSchema, default: null },
    sourceUrl: { type: String, default: null },
    attributions: { type: [attributionSchema], required: true },
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
mediumSchema.index({ versionId: 1, mediaId: 1 }, { unique: true });
mediumSchema.index({ organizationId: 1, mediaId: 1, createdAt: -1 });
mediumSchema.index({ 'asset.sha256': 1, organizationId: 1, createdAt: -1 });

const insertBatch = 200;

/** Stores the media of a version, before the version itself. */
export async function insertMedia(db: MediumDb, media: Omit<Medium, 'createdAt'>[]): Promise<void> {
  // Mongoose reads the documents of a call in one turn of the event loop.
  for (const some of groupsOf(media, insertBatch)) await db.media.insertMany(some);
}

/** The needed fields of a media file; few, because a version may use 20,000 files. */
export interface FoundMedium extends Pick<
  Medium,
  'mimeType' | 'extension' | 'asset' | 'sourceUrl' | 'attributions'
> {
  /** Whether the version's own package contained it. */
  own: boolean;
}

/** The number of media per query. */
const lookupBatch = 1000;

/**
 * Returns the media of a version by id: its own, and for other ids the organization's newest media file, or a file of its
 * library. Unknown ids are missing.
 */
export async function findMedia(
  db: MediumDb & LessonVersionDb & LibraryFileDb,
  version: { organizationId: string; versionId: string },
  mediaIds: string[],
): Promise<Map<string, FoundMedium>> {
  const media = new Map<string, FoundMedium>();
  // Shares one string per type and extension, where every document would have its own.
  const texts = new Map<string, string>();
  const intern = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  for (const some of groupsOf(mediaIds, lookupBatch)) {
    const found = await findSomeMedia(db, version, some);
    for (const { mediaId, versionId, mimeType, extension, asset, sourceUrl, attributions } of found) {
      media.set(mediaId, {
        own: versionId === version.versionId,
        mimeType: intern(mimeType),
        extension: intern(extension),
        asset,
        sourceUrl,
        attributions,
      });
    }
  }
  return media;
}

/** Finds media; the last one of an id counts. */
async function findSomeMedia(
  db: MediumDb & LessonVersionDb & LibraryFileDb,
  { organizationId, versionId }: { organizationId: string; versionId: string },
  mediaIds: string[],
): Promise<Omit<Medium, 'createdAt'>[]> {
  const own = await db.media
    .find({ versionId, mediaId: { $in: mediaIds } })
    .lean<Medium[]>()
    .exec();
  const known = new Set(own.map((medium) => medium.mediaId));
  const others = mediaIds.filter((id) => !known.has(id));
  if (others.length === 0) return own;
  const found = await db.media
    .find({ organizationId, mediaId: { $in: others } })
    // In the order of the index, for any number of ids.
    .sort({ mediaId: -1, createdAt: 1 })
    .lean<Medium[]>()
    .exec();
  // Imports write media before the version, and remove them when they fail.
  const finished = await existingVersions(
    db,
    found.map((medium) => medium.versionId),
  );
  const library = await findLibraryFiles(db, organizationId, others);
  return [
    ...own,
    ...found.filter((medium) => finished.has(medium.versionId)),
    // Last, because its credit is the newest.
    ...library.map((file) => ({
      ...{ organizationId, versionId: '', mediaId: file._id, sourceUrl: null },
      ...{ mimeType: file.mimeType, extension: file.extension, asset: file.asset },
      attributions: attributionsOfFile(file),
    })),
  ];
}

/** Returns the media of a version's own package. */
export function listMediaOfVersion(db: MediumDb, versionId: string): Promise<Medium[]> {
  return db.media.find({ versionId }).lean<Medium[]>().exec();
}

/** Gives a version that does not exist yet the media of another one's package. */
export async function copyMedia(db: MediumDb, from: string, to: string): Promise<void> {
  const media = await listMediaOfVersion(db, from);
  await insertMedia(
    db,
    media.map(({ organizationId, mediaId, mimeType, extension, asset, sourceUrl, attributions }) => ({
      ...{ organizationId, versionId: to, mediaId, mimeType, extension, asset, sourceUrl, attributions },
    })),
  );
}

/** Gives a version that does not exist yet the media that its draft refers to, so that they never change. */
export async function adoptMedia(
  db: MediumDb & LessonVersionDb & LibraryFileDb,
  { organizationId, basedOn, versionId }: { organizationId: string; basedOn: string; versionId: string },
  mediaIds: string[],
): Promise<void> {
  const found = await findMedia(db, { organizationId, versionId: basedOn }, mediaIds);
  await insertMedia(
    db,
    [...found].map(([mediaId, { mimeType, extension, asset, sourceUrl, attributions }]) => ({
      ...{ organizationId, versionId, mediaId, mimeType, extension, asset, sourceUrl, attributions },
    })),
  );
}

/**
 * Adds the files of a version to the library of its organization.
 *
 * @param names of files by media id; others are named after their id
 */
export async function addToLibrary(
  db: MediumDb & LibraryFileDb,
  versionId: string,
  names: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const stored = (await listMediaOfVersion(db, versionId)).flatMap(({ asset, ...medium }) =>
    asset === null ? [] : [{ ...medium, asset }],
  );
  for (const some of groupsOf(stored, insertBatch))
    await addLibraryFiles(
      db,
      some.map(({ organizationId, mediaId, mimeType, extension, asset, attributions }) => ({
        ...{ organizationId, mimeType, extension, asset, width: null, height: null },
        ...{ name: names.get(mediaId) ?? `${mediaId}.${extension}`, alt: '', license: '' },
        ...{ credit: attributions[0]?.text ?? '', creditUrl: attributions[0]?.url ?? '' },
      })),
    );
}

/** Returns whether a version of the organization has a file. */
export async function isUsedByVersion(
  db: MediumDb,
  organizationId: string,
  sha256: string,
): Promise<boolean> {
  return (await db.media.exists({ 'asset.sha256': sha256, organizationId })) !== null;
}

/** A version that has a file, under some ids. */
export interface VersionUse {
  versionId: string;
  mediaIds: string[];
}

/** Returns versions that have a file, at most `limit`. */
export function versionsWithFile(
  db: MediumDb,
  organizationId: string,
  sha256: string,
  limit: number,
): Promise<VersionUse[]> {
  return db.media.aggregate<VersionUse>([
    { $match: { 'asset.sha256': sha256, organizationId } },
    { $sort: { createdAt: -1 } },
    { $limit: limit },
    { $group: { _id: '$versionId', mediaIds: { $push: '$mediaId' } } },
    { $project: { _id: 0, versionId: '$_id', mediaIds: 1 } },
  ]);
}

export async function deleteMediaOfVersion(db: MediumDb, versionId: string): Promise<void> {
  await db.media.deleteMany({ versionId });
}

/** Returns those of the files that media of any version use. */
export async function assetsUsedByMedia(db: MediumDb, sha256s: string[]): Promise<string[]> {
  return db.media.distinct('asset.sha256', { 'asset.sha256': { $in: sha256s } });
}
