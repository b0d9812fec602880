import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';
import { searchable } from '../platform/searchable.ts';
import { uuidV5 } from '../platform/uuid.ts';
import type { Digest } from '../storage/store.ts';
import type { Attribution } from '../lessons/player-lesson.ts';
import type { ListPosition } from './newest-first.ts';

export const fileKinds = ['image', 'video', 'audio', 'captions', 'other'] as const;
export type FileKind = (typeof fileKinds)[number];

/** The digest of a file in the store's assets. */
export const digestSchema = new Schema<Digest>(
  {
    sha256: { type: String, required: true },
    crc32: { type: Number, required: true },
    size: { type: Number, required: true },
  },
  { _id: false },
);

/** What authors write about a file. */
export interface FileDescription {
  name: string;
  /** What a picture shows: the suggestion for new blocks. */
  alt: string;
  /** Who made it; learners see it with the license. */
  credit: string;
  /** Where it comes from: an http or https URL, or empty. */
  creditUrl: string;
  license: string;
}

/**
 * A file of an organization's media library: every file that a version has, and every uploaded one. Its bytes never
 * change. Drafts refer to it as `media:<id>`; a published version gets a row of its own (medium.ts).
 */
export interface LibraryFile extends FileDescription {
  /** {@link libraryFileId} */
  _id: string;
  organizationId: string;
  kind: FileKind;
  mimeType: string;
  /** The extension of its file name in an archive, without the dot. */
  extension: string;
  asset: Digest;
  /** The size of an uploaded picture in pixels; null for other files, and if it is unknown. */
  width: number | null;
  height: number | null;
  createdAt: Date;
}

export interface LibraryFileDb {
  libraryFiles: Model<LibraryFile>;
}

const text = { type: String, default: '' };

export const libraryFileSchema = new Schema<LibraryFile>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    kind: { type: String, required: true, enum: fileKinds },
    mimeType: { type: String, required: true },
    extension: { type: String, required: true },
    asset: { type: digestSchema, required: true },
    ...{ name: text, alt: text, credit: text, creditUrl: text, license: text },
    width: { type: Number, default: null },
    height: { type: Number, default: null },
    createdAt: { type: Date, required: true },
  },
  schemaOptions,
);
libraryFileSchema.index({ organizationId: 1, createdAt: -1, _id: 1 });
libraryFileSchema.index({ organizationId: 1, kind: 1, createdAt: -1, _id: 1 });
libraryFileSchema.index({ 'asset.sha256': 1 });

/** Returns the id of an organization's file: the same bytes are one file. */
export function libraryFileId(organizationId: string, sha256: string): string {
  return uuidV5(organizationId, `media/${sha256}`);
}

/** Returns the kind of a file of a MIME type. */
export function kindOf(mimeType: string): FileKind {
  const type = mimeType.toLowerCase();
  if (type === 'text/vtt') return 'captions';
  if (type === 'application/mp4' || type === 'application/ogg') return 'video';
  const [family = ''] = type.split('/');
  return fileKinds.find((kind) => kind === family) ?? 'other';
}

/** Adds files, except those that the library has: their descriptions stay. */
export async function addLibraryFiles(
  db: LibraryFileDb,
  files: readonly Omit<LibraryFile, '_id' | 'kind' | 'createdAt'>[],
): Promise<void> {
  const createdAt = new Date();
  await db.libraryFiles.bulkWrite(
    files.map(({ organizationId, ...file }) => ({
      updateOne: {
        filter: { _id: libraryFileId(organizationId, file.asset.sha256) },
        update: { $setOnInsert: { organizationId, ...file, kind: kindOf(file.mimeType), createdAt } },
        upsert: true,
      },
    })),
    { ordered: false },
  );
}

/** Returns a file of an organization; null if there is none. */
export function findLibraryFile(
  db: LibraryFileDb,
  organizationId: string,
  id: string,
): Promise<LibraryFile | null> {
  return db.libraryFiles.findOne({ _id: id, organizationId }).lean<LibraryFile>().exec();
}

/** Returns the files of an organization with these ids. */
export function findLibraryFiles(
  db: LibraryFileDb,
  organizationId: string,
  ids: readonly string[],
): Promise<LibraryFile[]> {
  return db.libraryFiles
    .find({ _id: { $in: [...ids] }, organizationId })
    .lean<LibraryFile[]>()
    .exec();
}

/** Files scanned for one page, which bounds the cost of searches with few matches. */
const maxScanned = 2_000;

/**
 * Returns a page of an organization's files, newest first.
 *
 * @param options.text words that name, alt text, credit and license together must contain, ignoring case and accents; a
 *   page before the last may then have fewer than `limit` files
 */
export async function pageOfFiles(
  db: LibraryFileDb,
  organizationId: string,
  {
    kind,
    text: searched = '',
    limit,
    after,
  }: { kind?: FileKind | undefined; text?: string; limit: number; after: ListPosition | null },
): Promise<{ files: LibraryFile[]; next: ListPosition | null }> {
  const words = searchable(searched).split(/\s+/);
  const from = after && {
    createdAt: { $lte: after.createdAt },
    $or: [{ createdAt: { $lt: after.createdAt } }, { _id: { $gt: after.id } }],
  };
  const files: LibraryFile[] = [];
  let next: ListPosition | null = null;
  let scanned = 0;
  const cursor = db.libraryFiles
    .find({ organizationId, ...(kind !== undefined && { kind }), ...from })
    .sort({ createdAt: -1, _id: 1 })
    .limit(maxScanned + 1)
    .lean<LibraryFile>()
    .cursor({ batchSize: limit + 1 });
  try {
    for await (const file of cursor) {
      if (files.length === limit || scanned === maxScanned) return { files, next };
      scanned += 1;
      next = { createdAt: file.createdAt, id: file._id };
      if (hasWords(file, words)) files.push(file);
    }
    return { files, next: null };
  } finally {
    await cursor.close();
  }
}

function hasWords({ name, alt, credit, license }: LibraryFile, words: readonly string[]): boolean {
  const described = searchable([name, alt, credit, license].join(' '));
  return words.every((word) => described.includes(word));
}

/** Changes what authors have written about a file. Null if there is no such file. */
export function describeFile(
  db: LibraryFileDb,
  { organizationId, id }: { organizationId: string; id: string },
  changes: Partial<FileDescription>,
): Promise<LibraryFile | null> {
  return db.libraryFiles
    .findOneAndUpdate({ _id: id, organizationId }, { $set: changes }, { returnDocument: 'after' })
    .lean<LibraryFile>()
    .exec();
}

export async function deleteLibraryFile(db: LibraryFileDb, id: string): Promise<void> {
  await db.libraryFiles.deleteOne({ _id: id });
}

/** Returns what learners see about the origin of a file. */
export function attributionsOfFile({
  credit,
  creditUrl,
  license,
}: Pick<FileDescription, 'credit' | 'creditUrl' | 'license'>): Attribution[] {
  const text = [credit, license].filter((part) => part !== '').join(', ');
  return text === '' && creditUrl === '' ? [] : [{ text, url: creditUrl, portfolioUrl: '' }];
}

/** Returns those of the files that a library has. */
export async function assetsUsedByLibraries(db: LibraryFileDb, sha256s: string[]): Promise<string[]> {
  return db.libraryFiles.distinct('asset.sha256', { 'asset.sha256': { $in: sha256s } });
}
