import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import { pseudonymOf, pseudonymOfId } from '../tokens/learner-subject.ts';
import type { LearnerSubject } from '../tokens/learner-subject.ts';
import { batched } from './batched.ts';

/** Tokens of an organization, optionally only of a lesson, a learner, or both; null means any. */
export interface RevokedTokens {
  organizationId: string;
  lessonId: string | null;
  learnerId: string | null;
}

/**
 * Revokes the tokens that were signed up to this time. Revocations outlive erasures, so `learnerId` is a pseudonym. It
 * has the prefix `erased:` for a learner whose data were erased.
 */
export interface TokenRevocation extends RevokedTokens {
  revokedBefore: Date;
  /** When MongoDB deletes the revocation of an erased learner: all such tokens have expired. Null for others. */
  expiresAt: Date | null;
}

export interface TokenRevocationDb {
  tokenRevocations: Model<TokenRevocation>;
}

export const tokenRevocationSchema = new Schema<TokenRevocation>(
  {
    organizationId: { type: String, required: true },
    lessonId: { type: String, default: null },
    learnerId: { type: String, default: null },
    revokedBefore: { type: Date, required: true },
    expiresAt: { type: Date, default: null },
  },
  schemaOptions,
);
tokenRevocationSchema.index({ organizationId: 1, lessonId: 1, learnerId: 1 }, { unique: true });
tokenRevocationSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** Longer than the validity of any learner's token. */
const keptMs = 48 * 3600_000;

/**
 * Revokes the tokens that were signed up to `now`; replaces an earlier revocation of the same tokens.
 *
 * @param tokens.learnerId a `learnerId`, or the `ltiUserId` of users of all platforms.
 */
export async function revokeTokens(
  db: TokenRevocationDb,
  pepper: string,
  { organizationId, lessonId, learnerId: id }: RevokedTokens,
  now: Date,
): Promise<void> {
  const learnerId = id === null ? null : pseudonymOfId(pepper, organizationId, id);
  await saveRevocation(db, { organizationId, lessonId, learnerId }, now);
}

/** After the end of every token. */
const forever = new Date('9999-12-31T00:00:00Z');

/** Revokes all tokens of an organization, also those that are signed later, until {@link resumeTokens}. */
export function suspendTokens(db: TokenRevocationDb, organizationId: string): Promise<void> {
  return saveRevocation(db, { organizationId, lessonId: null, learnerId: null }, forever);
}

/** Accepts tokens again that are signed from now on. */
export async function resumeTokens(db: TokenRevocationDb, organizationId: string): Promise<void> {
  const tokens = { organizationId, lessonId: null, learnerId: null };
  await db.tokenRevocations.updateOne({ ...tokens, revokedBefore: forever }, { revokedBefore: new Date() });
}

/** Revokes the tokens of a learner whose data are erased: those that were signed up to `now`. */
export async function revokeErased(
  db: TokenRevocationDb,
  { organizationId, pseudonym }: { organizationId: string; pseudonym: string },
  now: Date,
): Promise<void> {
  const tokens = { organizationId, lessonId: null, learnerId: erasedName(pseudonym) };
  await saveRevocation(db, tokens, now, new Date(now.getTime() + keptMs));
}

async function saveRevocation(
  db: TokenRevocationDb,
  tokens: RevokedTokens,
  now: Date,
  expiresAt: Date | null = null,
): Promise<void> {
  const change = { $max: { revokedBefore: now, ...(expiresAt !== null && { expiresAt }) } };
  await upsertSafely(() => db.tokenRevocations.updateOne(tokens, change, { upsert: true }));
}

function erasedName(pseudonym: string): string {
  return `erased:${pseudonym}`;
}

/** A token, as revocations see it. */
export interface RevocableToken {
  organizationId: string;
  lessonId: string;
  /** Unix time in whole seconds, so a token from the second of the revocation counts as revoked. */
  issuedAt: number;
  /** Null for previews, which belong to no learner. */
  learner: LearnerSubject | null;
}

/** Returns the reason for rejecting a token; null for a valid one. */
export async function findRevocation(
  db: TokenRevocationDb,
  pepper: string,
  { learner, ...token }: RevocableToken,
): Promise<'revoked' | 'erased' | null> {
  if (learner === null) return findMatch(db, { ...token, id: null, erased: null });
  const id = learner.source === 'embed' ? learner.learnerId : learner.ltiUserId;
  return findMatch(db, {
    ...token,
    id: pseudonymOfId(pepper, token.organizationId, id),
    erased: erasedName(pseudonymOf(pepper, learner)),
  });
}

type Candidate = Omit<RevocableToken, 'learner'> & { id: string | null; erased: string | null };

const findMatch = batched(async (db: TokenRevocationDb, tokens: readonly Candidate[]) => {
  const found = await db.tokenRevocations
    .find({
      $or: tokens.map(({ organizationId, lessonId, id, erased }) => ({
        organizationId,
        lessonId: { $in: [null, lessonId] },
        learnerId: { $in: [null, id, erased] },
      })),
    })
    .lean<TokenRevocation[]>()
    .exec();
  return ({ organizationId, lessonId, issuedAt, id, erased }) => {
    const matches = found.filter(
      (one) =>
        one.organizationId === organizationId &&
        (one.lessonId === null || one.lessonId === lessonId) &&
        (one.learnerId === null || one.learnerId === id || one.learnerId === erased) &&
        one.revokedBefore.getTime() >= issuedAt * 1000,
    );
    if (matches.length === 0) return null;
    return erased !== null && matches.some(({ learnerId }) => learnerId === erased) ? 'erased' : 'revoked';
  };
});
