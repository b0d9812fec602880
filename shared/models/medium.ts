import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';
import type { Digest } from '../storage/store.ts';
import { existingVersions } from './lesson-version.ts';
import type { LessonVersionDb } from './lesson-version.ts';

/** Whom to credit for a medium. */
export interface Attribution {
  text: string;
  url: string;
  portfolioUrl: string;
}

/** A file in the store's assets. */
export const digestSchema = new Schema<Digest>(
  {
    sha256: { type: String, required: true },
    crc32: { type: Number, required: true },
    size: { type: Number, required: true },
  },
  { _id: false },
);

/**
 * A medium as one version of a lesson holds it. Each version has rows of its own, so that a picture replaced under
 * its old id in a later version leaves the published ones as they are. Ids are the organization's own.
 */
export interface Medium {
  organizationId: string;
  versionId: string;
  mediaId: string;
  mimeType: string;
  /** Of its file name in an archive, without the dot. */
  extension: string;
  /** The uploaded file; null for an external medium. */
  asset: Digest | null;
  /** Where an external medium is downloaded from; null for an uploaded one. */
  sourceUrl: string | null;
  attributions: readonly Attribution[];
  createdAt: Date;
}

/** A medium as it is stored. Releases that kept one attribution for each medium wrote `attribution`. */
export interface StoredMedium extends Omit<Medium, 'attributions'> {
  attributions?: Attribution[];
  attribution?: Attribution | null;
}

const attributionSchema = new Schema<Attribution>(
  { text: String, url: String, portfolioUrl: String },
  { _id: false },
);

/** The part of the database that these operations use. */
export interface MediumDb {
  media: Model<StoredMedium>;
}

export const mediumSchema = new Schema<StoredMedium>(
  {
    organizationId: { type: String, required: true },
    versionId: { type: String, required: true },
    mediaId: { type: String, required: true },
    mimeType: { type: String, required: true },
    extension: { type: String, required: true },
    asset: { type: digestSchema, default: null },
    sourceUrl: { type: String, default: null },
    attributions: { type: [attributionSchema], default: undefined },
    attribution: { type: attributionSchema, default: undefined },
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
mediumSchema.index({ versionId: 1, mediaId: 1 }, { unique: true });
mediumSchema.index({ organizationId: 1, mediaId: 1, createdAt: -1 });
mediumSchema.index({ 'asset.sha256': 1 });

/** Stores the media of a version that does not exist yet. */
export async function insertMedia(db: MediumDb, media: Omit<Medium, 'createdAt'>[]): Promise<void> {
  const rows = media.map(({ attributions, ...medium }) => ({
    ...medium,
    ...(attributions.length > 0 && { attributions }),
  }));
  await db.media.insertMany(rows);
}

/** What is found of a medium: little, for a version may use 100,000. */
export interface FoundMedium extends Pick<
  Medium,
  'mimeType' | 'extension' | 'asset' | 'sourceUrl' | 'attributions'
> {
  /** Whether the version's own package brought it. */
  own: boolean;
}

/** Media that one query asks for. */
const lookupBatch = 1000;

/**
 * The media that a version uses, by id: its own, and for an id that its package did not bring, the newest that the
 * organization has under it. Ids that nobody knows are missing from the answer.
 */
export async function findMedia(
  db: MediumDb & LessonVersionDb,
  version: { organizationId: string; versionId: string },
  mediaIds: string[],
): Promise<Map<string, FoundMedium>> {
  const media = new Map<string, FoundMedium>();
  // Of each type and extension one text, where every document brings its own.
  const texts = new Map<string, string>();
  const once = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  for (let start = 0; start < mediaIds.length; start += lookupBatch) {
    const found = await findSomeMedia(db, version, mediaIds.slice(start, start + lookupBatch));
    for (const { mediaId, versionId, mimeType, extension, asset, sourceUrl, attributions } of found) {
      media.set(mediaId, {
        own: versionId === version.versionId,
        mimeType: once(mimeType),
        extension: once(extension),
        asset,
        sourceUrl,
        attributions,
      });
    }
  }
  return media;
}

/** Of several under one id the last counts. */
async function findSomeMedia(
  db: MediumDb & LessonVersionDb,
  { organizationId, versionId }: { organizationId: string; versionId: string },
  mediaIds: string[],
): Promise<Medium[]> {
  const own = await db.media
    .find({ versionId, mediaId: { $in: mediaIds } })
    .lean<StoredMedium[]>()
    .exec();
  const known = new Set(own.map((medium) => medium.mediaId));
  const others = mediaIds.filter((id) => !known.has(id));
  if (others.length === 0) return own.map(read);
  const found = await db.media
    .find({ organizationId, mediaId: { $in: others } })
    .sort({ createdAt: 1 })
    .lean<StoredMedium[]>()
    .exec();
  // An import writes its media before its version, and takes them back when it fails.
  const finished = await existingVersions(
    db,
    found.map((medium) => medium.versionId),
  );
  return [...own, ...found.filter((medium) => finished.has(medium.versionId))].map(read);
}

/** For the media without attributions, which are most, one list. */
const noAttributions: readonly Attribution[] = [];

function read({ attribution, attributions, ...medium }: StoredMedium): Medium {
  const [some] = attributions ?? [];
  if (some !== undefined) return { ...medium, attributions: attributions ?? [] };
  return { ...medium, attributions: attribution ? [attribution] : noAttributions };
}

/** The media that a version's own package brought. */
export async function listMediaOfVersion(db: MediumDb, versionId: string): Promise<Medium[]> {
  const media = await db.media.find({ versionId }).lean<StoredMedium[]>().exec();
  return media.map(read);
}

export async function deleteMediaOfVersion(db: MediumDb, versionId: string): Promise<void> {
  await db.media.deleteMany({ versionId });
}

/** Those of some files of the store that any version's media live in. */
export async function assetsUsedByMedia(db: MediumDb, sha256s: string[]): Promise<string[]> {
  return db.media.distinct('asset.sha256', { 'asset.sha256': { $in: sha256s } });
}
