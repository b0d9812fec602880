import { createHash } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import type { Digest } from '../storage/store.ts';
import { digestSchema } from './medium.ts';

/** What an address held when it was last downloaded: how the media cache finds a file again, on every host. */
export interface RemoteFile {
  /** SHA-256 of the address. */
  _id: string;
  url: string;
  file: Digest;
  /** The type that a medium declared when the file passed for it; null for one that was stored before types were. */
  declaredType: string | null;
  /** What it is as that: see `inspect` in shared/media/downloads/content-types.ts. */
  mimeType: string | null;
  /** What the server said to ask with for changes. */
  etag: string | null;
  lastModified: string | null;
  checkedAt: Date;
}

/** The part of the database that these operations use. */
export interface RemoteFileDb {
  connection: Connection;
  remoteFiles: Model<RemoteFile>;
}

export const remoteFileSchema = new Schema<RemoteFile>(
  {
    _id: { type: String, required: true },
    url: { type: String, required: true },
    file: { type: digestSchema, required: true },
    declaredType: { type: String, default: null },
    mimeType: { type: String, default: null },
    etag: { type: String, default: null },
    lastModified: { type: String, default: null },
    checkedAt: { type: Date, required: true },
  },
  schemaOptions,
);

/** Addresses may be longer than an index key should be. */
function idOf(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}

/** What is known of these addresses, by address. */
export async function findRemoteFiles(db: RemoteFileDb, urls: string[]): Promise<Map<string, RemoteFile>> {
  const found = await db.remoteFiles
    .find({ _id: { $in: urls.map(idOf) } })
    .lean<RemoteFile[]>()
    .exec();
  return new Map(found.map((file) => [file.url, file]));
}

export type DownloadedFile = Omit<RemoteFile, '_id' | 'checkedAt'>;

/** Notes what some addresses held just now. */
export async function saveRemoteFiles(db: RemoteFileDb, files: DownloadedFile[]): Promise<void> {
  if (files.length === 0) return;
  const checkedAt = new Date();
  // Not through Mongoose, which would make several documents of each.
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
