import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';

/** A key pair with which Lectern signs its messages to learning platforms. */
export interface LtiKey {
  /** The `kid` in token headers. */
  _id: string;
  /** Counts from 1; exactly one of several concurrent processes creates the next one. */
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
    generation: { type: Number, required: true },
    publicJwk: { type: String, required: true },
    privateJwk: { type: String, required: true },
    createdAt: { type: Date, required: true },
  },
  schemaOptions,
);
ltiKeySchema.index({ generation: 1 }, { unique: true });

/** Stores a key unless its generation exists. */
export async function addLtiKey(db: LtiKeyDb, key: LtiKey): Promise<void> {
  try {
    await db.ltiKeys.create(key);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
}

/** Returns all keys, newest generation first. */
export function listLtiKeys(db: LtiKeyDb): Promise<LtiKey[]> {
  return db.ltiKeys.find().sort({ generation: -1 }).lean<LtiKey[]>().exec();
}

/** Removes the keys of earlier generations. */
export async function removeLtiKeysBefore(db: LtiKeyDb, generation: number): Promise<void> {
  await db.ltiKeys.deleteMany({ generation: { $lt: generation } });
}
