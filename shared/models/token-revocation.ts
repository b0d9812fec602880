import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import { batched } from './batched.ts';

/** Tokens of an organization, optionally only of a lesson, a learner, or both; null means any. */
export interface RevokedTokens {
  organizationId: string;
  lessonId: string | null;
  learnerId: string | null;
}

/** Revokes the tokens that were signed up to this time. */
export interface TokenRevocation extends RevokedTokens {
  revokedBefore: Date;
}

/** The part of the database that these operations use. */
export interface TokenRevocationDb {
  tokenRevocations: Model<TokenRevocation>;
}

export const tokenRevocationSchema = new Schema<TokenRevocation>(
  {
    organizationId: { type: String, required: true },
    lessonId: { type: String, default: null },
    learnerId: { type: String, default: null },
    revokedBefore: { type: Date, required: true },
  },
  schemaOptions,
);
tokenRevocationSchema.index({ organizationId: 1, lessonId: 1, learnerId: 1 }, { unique: true });

/** Revokes the tokens that were signed up to `now`; replaces an earlier revocation of the same tokens. */
export async function revokeTokens(db: TokenRevocationDb, tokens: RevokedTokens, now: Date): Promise<void> {
  const { organizationId, lessonId, learnerId } = tokens;
  await upsertSafely(() =>
    db.tokenRevocations.updateOne(
      { organizationId, lessonId, learnerId },
      { $max: { revokedBefore: now } },
      { upsert: true },
    ),
  );
}

/**
 * Returns whether a token was revoked. Its time of issue has whole seconds, so a token from the second of the
 * revocation counts as revoked.
 */
export const isRevoked = batched(
  async (db: TokenRevocationDb, tokens: readonly (RevokedTokens & { issuedAt: number })[]) => {
    const found = await db.tokenRevocations
      .find({
        $or: tokens.map(({ organizationId, lessonId, learnerId }) => ({
          organizationId,
          lessonId: { $in: [null, lessonId] },
          learnerId: { $in: [null, learnerId] },
        })),
      })
      .lean<TokenRevocation[]>()
      .exec();
    return (token) =>
      found.some(
        ({ organizationId, lessonId, learnerId, revokedBefore }) =>
          organizationId === token.organizationId &&
          (lessonId === null || lessonId === token.lessonId) &&
          (learnerId === null || learnerId === token.learnerId) &&
          revokedBefore.getTime() >= token.issuedAt * 1000,
      );
  },
);
