import { createHash, randomBytes } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isFreeAt } from '../platform/lease.ts';
import { schemaOptions } from '../platform/mongo.ts';

/** How long an invitation may be used. */
export const invitationHours = 24;

/** A registration that has begun and never ended was cut off: after this long another one may begin. */
const attemptSeconds = 120;

/** Used and expired ones are kept for as long as somebody may ask what became of them. */
const keptSeconds = 30 * 24 * 3600;

/** One learning platform may register itself for an organization, at an address that only who was invited knows. */
export interface LtiRegistration {
  /** The SHA-256 of the token in the address, in hex. The token itself is not kept. */
  _id: string;
  organizationId: string;
  createdAt: Date;
  expiresAt: Date;
  /** Until then a registration is under way; null when none is. */
  attemptUntil: Date | null;
  /** The platform that came of it; null until one did. */
  platformId: string | null;
}

/** The part of the database that these operations use. */
export interface LtiRegistrationDb {
  ltiRegistrations: Model<LtiRegistration>;
}

export const ltiRegistrationSchema = new Schema<LtiRegistration>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    createdAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
    attemptUntil: { type: Date, default: null },
    platformId: { type: String, default: null },
  },
  schemaOptions,
);
ltiRegistrationSchema.index({ expiresAt: 1 }, { expireAfterSeconds: keptSeconds });

/** Lets one platform register itself. The answer is the only time the token is seen. */
export async function inviteRegistration(
  db: LtiRegistrationDb,
  organizationId: string,
): Promise<{ token: string; expiresAt: Date }> {
  const token = randomBytes(32).toString('base64url');
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + invitationHours * 3600_000);
  await db.ltiRegistrations.create({ _id: digestOf(token), organizationId, createdAt, expiresAt });
  return { token, expiresAt };
}

/** Why an invitation cannot be used. */
export type InvitationFault = 'unknown' | 'expired' | 'used' | 'under_way';

/** Begins a registration: of several at once, one does. It ends by `endRegistration` or `releaseRegistration`. */
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

/** The invitation is used up. */
export async function endRegistration(
  db: LtiRegistrationDb,
  { _id }: Pick<LtiRegistration, '_id'>,
  platformId: string,
): Promise<void> {
  await db.ltiRegistrations.updateOne({ _id }, { platformId, attemptUntil: null });
}

/** Nothing came of it: the invitation may be used again. */
export async function releaseRegistration(
  db: LtiRegistrationDb,
  { _id, attemptUntil }: Pick<LtiRegistration, '_id' | 'attemptUntil'>,
): Promise<void> {
  await db.ltiRegistrations.updateOne({ _id, attemptUntil }, { attemptUntil: null });
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
