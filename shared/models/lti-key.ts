import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';

/** A key pair with which Lectern signs its messages to learning platforms. */
export interface LtiKey {
  /** The `kid` in token headers. */
  _id: string;
  /** The key set that publishes it: each registration of Lectern in a platform has its own. */
  keySetId: string;
  /** Counts from 1 in the key set; exactly one of several concurrent processes creates the next one. */
  generation: number;
  /** The JWK for platforms, as JSON. */
  publicJwk: string;
  /** The encrypted JWK with the private key: shared/lti/keys.ts. */
  privateJwk: string;
  createdAt: Date;
}

export interface LtiKeyDb {
  ltiKeys: Model<LtiKey>;
}

export const ltiKeySchema = new Schema<LtiKey>(
  {
    _id: { type: String, required: true },
    keySetId: { type: String, required: true },
    generation: { type: Number, required: true },
    publicJwk: { type: String, required: true },
    privateJwk: { type: String, required: true },
    createdAt: { type: Date, required: true },
  },
  schemaOptions,
);
ltiKeySchema.index({ keySetId: 1, generation: 1 }, { unique: true });

/** Stores a key unless its generation exists. */
export async function addLtiKey(db: LtiKeyDb, key: LtiKey): Promise<void> {
  try {
    await db.ltiKeys.create(key);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
}

/** Returns the keys of a key set, newest generation first. */
export function listLtiKeys(db: LtiKeyDb, keySetId: string): Promise<LtiKey[]> {
  return db.ltiKeys.find({ keySetId }).sort({ generation: -1 }).lean<LtiKey[]>().exec();
}

/** Removes the keys of earlier generations from a key set. */
export async function removeLtiKeysBefore(db: LtiKeyDb, keySetId: string, generation: number): Promise<void> {
  await db.ltiKeys.deleteMany({ keySetId, generation: { $lt: generation } });
}

/** Removes all keys of a key set. */
export async function removeKeySet(db: LtiKeyDb, keySetId: string): Promise<void> {
  await db.ltiKeys.deleteMany({ keySetId });
}
