import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isFreeAt } from '../platform/lease.ts';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';

/** How long an invitation is valid. */
export const invitationHours = 24;

/** An attempt without an end was interrupted: another one may begin after this time. */
const attemptSeconds = 120;

/** Used and expired invitations are kept this long for inspection. */
const keptSeconds = 30 * 24 * 3600;

/** An invitation for one learning platform to register itself for an organization, with a secret URL. */
export interface LtiRegistration {
  /** The SHA-256 of the URL's token, in hex. The token itself is not stored. */
  _id: string;
  organizationId: string;
  /** The key set of the platform that will register. */
  keySetId: string;
  createdAt: Date;
  expiresAt: Date;
  /** The lease of a running registration; null if there is none. */
  attemptUntil: Date | null;
  /** The registered platform; null before. */
  platformId: string | null;
}

export interface LtiRegistrationDb {
  ltiRegistrations: Model<LtiRegistration>;
}

export const ltiRegistrationSchema = new Schema<LtiRegistration>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    keySetId: { type: String, required: true },
    createdAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
    attemptUntil: { type: Date, default: null },
    platformId: { type: String, default: null },
  },
  schemaOptions,
);
ltiRegistrationSchema.index({ expiresAt: 1 }, { expireAfterSeconds: keptSeconds });
ltiRegistrationSchema.index({ organizationId: 1, createdAt: -1, _id: 1 });
ltiRegistrationSchema.index({ keySetId: 1 });

/**
 * Creates an invitation. Only the caller has the token.
 *
 * @param given the same for a repeated request, which may have created the invitation already.
 */
export async function inviteRegistration(
  db: LtiRegistrationDb,
  organizationId: string,
  given: { token: string; keySetId: string } = {
    token: randomBytes(32).toString('base64url'),
    keySetId: randomUUID(),
  },
): Promise<LtiRegistration & { token: string }> {
  const { token, keySetId } = given;
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + invitationHours * 3600_000);
  const fields = { organizationId, keySetId, createdAt, expiresAt, attemptUntil: null, platformId: null };
  const stored = await upsertSafely(() =>
    db.ltiRegistrations
      .findOneAndUpdate(
        { _id: digestOf(token) },
        { $setOnInsert: fields },
        { upsert: true, returnDocument: 'after' },
      )
      .lean<LtiRegistration>()
      .exec(),
  );
  return { ...stored, token };
}

/** Deletes an invitation that was not used, whose URL then stops working. Returns whether there was one. */
export async function revokeRegistration(
  db: LtiRegistrationDb,
  { _id, organizationId }: Pick<LtiRegistration, '_id' | 'organizationId'>,
): Promise<boolean> {
  const unused = { _id, organizationId, platformId: null };
  return (await db.ltiRegistrations.deleteOne(unused)).deletedCount > 0;
}

/** Returns whether a key set belongs to an invitation, of the organization or of any. */
export async function isInvitedKeySet(
  db: LtiRegistrationDb,
  invitation: Pick<LtiRegistration, 'keySetId'> & Partial<Pick<LtiRegistration, 'organizationId'>>,
): Promise<boolean> {
  return (await db.ltiRegistrations.exists(invitation)) !== null;
}

/** Returns how many invitations of an organization can still be used. */
export function countOpenRegistrations(db: LtiRegistrationDb, organizationId: string): Promise<number> {
  const open = { organizationId, platformId: null, expiresAt: { $gt: new Date() } };
  return db.ltiRegistrations.countDocuments(open).exec();
}

/** Reasons for rejecting an invitation. */
export type InvitationFault = 'unknown' | 'expired' | 'used' | 'under_way';

/**
 * Begins a registration; exactly one concurrent attempt succeeds. It ends with `endRegistration` or
 * `releaseRegistration`.
 */
export async function beginRegistration(
  db: LtiRegistrationDb,
  token: string,
): Promise<LtiRegistration | InvitationFault> {
  const now = new Date();
  const begun = await db.ltiRegistrations
    .findOneAndUpdate(
      {
        _id: digestOf(token),
        platformId: null,
        expiresAt: { $gt: now },
        ...isFreeAt('attemptUntil', now),
      },
      { attemptUntil: new Date(now.getTime() + attemptSeconds * 1000) },
      { returnDocument: 'after' },
    )
    .lean<LtiRegistration>()
    .exec();
  if (begun !== null) return begun;
  const found = await db.ltiRegistrations.findById(digestOf(token)).lean<LtiRegistration>().exec();
  if (found === null) return 'unknown';
  if (found.platformId !== null) return 'used';
  return found.expiresAt <= now ? 'expired' : 'under_way';
}

/** Ends a registration; the invitation is used. */
export async function endRegistration(
  db: LtiRegistrationDb,
  { _id }: Pick<LtiRegistration, '_id'>,
  platformId: string,
): Promise<void> {
  await db.ltiRegistrations.updateOne({ _id }, { platformId, attemptUntil: null });
}

/** Ends a failed registration; the invitation stays valid. */
export async function releaseRegistration(
  db: LtiRegistrationDb,
  { _id, attemptUntil }: Pick<LtiRegistration, '_id' | 'attemptUntil'>,
): Promise<void> {
  await db.ltiRegistrations.updateOne({ _id, attemptUntil }, { attemptUntil: null });
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
