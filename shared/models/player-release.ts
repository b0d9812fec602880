import { Schema } from 'mongoose';
import type { Model, mongo } from 'mongoose';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';

/** The player as it was built: the files that learners' browsers load. */
export interface PlayerRelease {
  /** `<version of Lectern>-<8 hex digits>`: other files have another name. */
  name: string;
  /** By file name, sorted. */
  files: ReadonlyMap<string, Buffer>;
}

/** Releases that are kept: those of an upgrade under way, and of pages that were opened long ago. */
const keptReleases = 10;

/** The player's files as the API of one release of Lectern serves them, for processes of other releases. */
export interface StoredPlayerRelease {
  /** The release's name. */
  _id: string;
  files: { name: string; bytes: Buffer | mongo.Binary }[];
  /** When an API of that release was started last. */
  startedAt: Date;
}

/** The part of the database that these operations use. */
export interface PlayerReleaseDb {
  playerReleases: Model<StoredPlayerRelease>;
}

export const playerReleaseSchema = new Schema<StoredPlayerRelease>(
  {
    _id: { type: String, required: true },
    files: { type: [new Schema({ name: String, bytes: Buffer }, { _id: false })], required: true },
    startedAt: { type: Date, required: true },
  },
  schemaOptions,
);
playerReleaseSchema.index({ startedAt: -1 });

/** Stores a release, and removes those whose API was started longest ago. */
export async function savePlayerRelease(db: PlayerReleaseDb, { name, files }: PlayerRelease): Promise<void> {
  const stored = [...files].map(([file, bytes]) => ({ name: file, bytes }));
  await upsertSafely(() =>
    db.playerReleases.updateOne(
      { _id: name },
      { $set: { startedAt: new Date() }, $setOnInsert: { files: stored } },
      { upsert: true },
    ),
  );
  const old = await db.playerReleases
    .find()
    .sort({ startedAt: -1 })
    .skip(keptReleases)
    .select({ _id: 1 })
    .lean<{ _id: string }[]>()
    .exec();
  await db.playerReleases.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
}

/** Returns null for a release that no API of this installation brought. */
export async function findPlayerRelease(db: PlayerReleaseDb, name: string): Promise<PlayerRelease | null> {
  const found = await db.playerReleases.findById(name).lean<StoredPlayerRelease>().exec();
  if (found === null) return null;
  // The driver gives a Binary or a Buffer, whichever way the document was read.
  const files = found.files.map(
    ({ name: file, bytes }) => [file, Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer)] as const,
  );
  return { name, files: new Map(files) };
}
