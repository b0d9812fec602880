import { Schema } from 'mongoose';
import type { Model, mongo } from 'mongoose';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';

/** A build of the player: the files that learners' browsers load. */
export interface PlayerRelease {
  /** `<version of Lectern>-<8 hex digits>`, different for different files. */
  name: string;
  /** By file name, sorted. */
  files: ReadonlyMap<string, Buffer>;
}

/** The number of kept releases: those of a running upgrade, and of pages that were opened long ago. */
const keptReleases = 10;

/** The player's files of one release of Lectern, for processes of other releases. */
export interface StoredPlayerRelease {
  /** The release's name. */
  _id: string;
  files: { name: string; bytes: Buffer | mongo.Binary }[];
  /** The last start of an API of that release. */
  startedAt: Date;
}

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

/** Stores a release, and removes those with the earliest last start. */
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

/** Returns a release; null if no API of this installation stored it. */
export async function findPlayerRelease(db: PlayerReleaseDb, name: string): Promise<PlayerRelease | null> {
  const found = await db.playerReleases.findById(name).lean<StoredPlayerRelease>().exec();
  if (found === null) return null;
  // The driver returns a Binary or a Buffer, depending on how the document was read.
  const files = found.files.map(
    ({ name: file, bytes }) => [file, Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer)] as const,
  );
  return { name, files: new Map(files) };
}
