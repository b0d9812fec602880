import { createHash } from 'node:crypto';
import { Schema } from 'mongoose';
import type { PictureSize } from '../lessons/picture-size.ts';
import type { Connection, Model } from 'mongoose';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import type { Digest } from '../storage/store.ts';
import { digestSchema } from './library-file.ts';

/** The record of a URL's last download, by which the media cache finds the file on every host. */
export interface RemoteFile {
  /** SHA-256 of the URL. */
  _id: string;
  url: string;
  file: Digest;
  /** The declared type that the file was checked against. */
  declaredType: string;
  /** The type of the file: see `inspect` in shared/media/content-types.ts. */
  mimeType: string | null;
  /** The size of a picture; null for other files, and where it is unknown. */
  picture: PictureSize | null;
  /** The validator for conditional requests. */
  etag: string | null;
  lastModified: string | null;
  checkedAt: Date;
}

export interface RemoteFileDb {
  connection: Connection;
  remoteFiles: Model<RemoteFile>;
}

export const remoteFileSchema = new Schema<RemoteFile>(
  {
    _id: { type: String, required: true },
    url: { type: String, required: true },
    file: { type: digestSchema, required: true },
    declaredType: { type: String, required: true },
    mimeType: { type: String, default: null },
    picture: { type: Schema.Types.Mixed, default: null },
    etag: { type: String, default: null },
    lastModified: { type: String, default: null },
    checkedAt: { type: Date, required: true },
  },
  schemaOptions,
);

/** URLs may be too long for an index key. */
function idOf(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}

/** Returns the records of URLs, by URL. */
export async function findRemoteFiles(db: RemoteFileDb, urls: string[]): Promise<Map<string, RemoteFile>> {
  const found = await db.remoteFiles
    .find({ _id: { $in: urls.map(idOf) } })
    .lean<RemoteFile[]>()
    .exec();
  return new Map(found.map((file) => [file.url, file]));
}

/** Returns the sizes of those pictures that were downloaded before, by media id. */
export async function findPictureSizes(
  db: RemoteFileDb,
  pictures: readonly { mediaId: string; url: string }[],
): Promise<Record<string, PictureSize>> {
  if (pictures.length === 0) return {};
  const found = await db.remoteFiles
    .find({ _id: { $in: pictures.map(({ url }) => idOf(url)) } }, { url: 1, picture: 1 })
    .lean<Pick<RemoteFile, 'url' | 'picture'>[]>()
    .exec();
  const sizes = new Map(found.map(({ url, picture }) => [url, picture]));
  return Object.fromEntries(
    pictures.flatMap(({ mediaId, url }) => {
      const size = sizes.get(url);
      return size ? [[mediaId, size]] : [];
    }),
  );
}

export type DownloadedFile = Omit<RemoteFile, '_id' | 'checkedAt'>;

/** Saves the records of files that were downloaded or revalidated just now. */
export async function saveRemoteFiles(db: RemoteFileDb, files: DownloadedFile[]): Promise<void> {
  if (files.length === 0) return;
  const checkedAt = new Date();
  // Bypasses Mongoose, which would create several documents for each.
  const collection = db.connection.collection<Pick<RemoteFile, '_id'>>(db.remoteFiles.collection.name);
  await upsertSafely(() =>
    collection.bulkWrite(
      files.map((file) => ({
        updateOne: {
          filter: { _id: idOf(file.url) },
          update: { $set: { ...file, checkedAt } },
          upsert: true,
        },
      })),
      { ordered: false },
    ),
  );
}
