import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';

/** A pair of keys with which Lectern signs what it sends to learning platforms. */
export interface LtiKey {
  /** The `kid` in headers of tokens. */
  _id: string;
  /** Counts from 1; of processes that make the next one at once, one succeeds. */
  generation: number;
  /** As JSON: the JWK that platforms get. */
  publicJwk: string;
  /** The JWK with the private part, encrypted: shared/lti/keys.ts. */
  privateJwk: string;
  createdAt: Date;
}

/** The part of the database that these operations use. */
export interface LtiKeyDb {
  ltiKeys: Model<LtiKey>;
}

export const ltiKeySchema = new Schema<LtiKey>(
  {
    _id: { type: String, required: true },
    generation: { type: Number, required: true },
    publicJwk: { type: String, required: true },
    privateJwk: { type: String, required: true },
    createdAt: { type: Date, required: true },
  },
  schemaOptions,
);
ltiKeySchema.index({ generation: 1 }, { unique: true });

/** Stores a key, unless there is one of this generation already. */
export async function addLtiKey(db: LtiKeyDb, key: LtiKey): Promise<void> {
  try {
    await db.ltiKeys.create(key);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
}

/** All keys, the newest generation first. */
export function listLtiKeys(db: LtiKeyDb): Promise<LtiKey[]> {
  return db.ltiKeys.find().sort({ generation: -1 }).lean<LtiKey[]>().exec();
}

/** Removes the keys of earlier generations than this one. */
export async function removeLtiKeysBefore(db: LtiKeyDb, generation: number): Promise<void> {
  await db.ltiKeys.deleteMany({ generation: { $lt: generation } });
}
