import { createHash } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { z } from 'zod';
import { roles } from '../accounts/permissions.ts';
import type { Role } from '../accounts/permissions.ts';
import { LecternError } from '../platform/errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import type { Organization } from './organization.ts';

/** Normalizes an email address for storage and lookup. */
export const emailSchema = z
  .string('email is required')
  .trim()
  .toLowerCase()
  .max(254, 'email must be an email address')
  .pipe(z.email('email must be an email address'));

/** A login account in an organization, or of an operator. */
export interface User {
  _id: string;
  /** Null for operators, and only for them. */
  organizationId: string | null;
  /** Normalized by {@link emailSchema}; unique across organizations. */
  email: string;
  role: Role;
  /** The hash that passwords.ts returns; null until an invitation is accepted. */
  passwordHash: string | null;
  /** The open invitation, whose link sets a password once. */
  invitation: Invitation | null;
  createdAt: Date;
  /** Sessions that began earlier are invalid. */
  sessionsEndedAt: Date;
  disabledAt: Date | null;
  lastLogInAt: Date | null;
  /** Null while two-step login is off. */
  twoStep: TwoStep | null;
}

/** Two-step login with an authenticator app. */
export interface TwoStep {
  /** The secret of the app, sealed with the key pepper. */
  secret: string;
  /** The period of the last code that was used: neither it nor earlier ones work again. */
  lastPeriod: number;
  /** Keyed hashes of the unused recovery codes. */
  recoveryDigests: string[];
}

interface Invitation {
  /** The SHA-256 of the link's token, in hex. The token itself is not stored. */
  digest: string;
  /** The id of the user, or the public key, that made it: the link works no longer than they have their rights. */
  by: string;
  expiresAt: Date;
}

/** Identifies a user of an organization; null for operators. */
export interface UserKey {
  id: string;
  organizationId: string | null;
}

/** A user with the current organization; null for operators. */
export interface Account {
  user: User;
  organization: Organization | null;
}

export interface UserDb {
  users: Model<User>;
}

export const userSchema = new Schema<User>(
  {
    _id: uuidField,
    organizationId: { type: String, default: null },
    email: { type: String, required: true },
    role: { type: String, required: true, enum: roles },
    passwordHash: { type: String, default: null },
    invitation: { type: { digest: String, by: String, expiresAt: Date }, _id: false, default: null },
    createdAt: { type: Date, required: true, default: () => new Date() },
    sessionsEndedAt: { type: Date, required: true, default: () => new Date() },
    disabledAt: { type: Date, default: null },
    lastLogInAt: { type: Date, default: null },
    twoStep: {
      type: { secret: String, lastPeriod: Number, recoveryDigests: [String] },
      _id: false,
      default: null,
    },
  },
  schemaOptions,
);
userSchema.index({ email: 1 }, { unique: true });
userSchema.index({ organizationId: 1, email: 1 });
userSchema.index({ organizationId: 1, createdAt: -1, _id: 1 });
for (const field of ['invitation.digest', 'invitation.by'])
  userSchema.index({ [field]: 1 }, { partialFilterExpression: { [field]: { $exists: true } } });

/** How long the link of an invitation is valid. */
export const invitationDays = 7;

/**
 * Stores a user.
 *
 * @throws {LecternError} CONFLICT when any user has the address.
 */
export async function createUser(
  db: UserDb,
  fields: Pick<User, 'organizationId' | 'email' | 'role' | 'passwordHash'> & Partial<Pick<User, '_id'>>,
): Promise<User> {
  try {
    return (await db.users.create(fields)).toObject();
  } catch (error) {
    if (isDuplicate(error)) throw new LecternError('CONFLICT', `A user ${fields.email} exists.`);
    throw error;
  }
}

/** Returns the users of an organization, or the operators, by email address. */
export function listUsers(db: UserDb, organizationId: string | null): Promise<User[]> {
  return db.users.find({ organizationId }).sort({ email: 1 }).lean<User[]>().exec();
}

/** Returns a user, disabled or not, with the organization, in one round trip; null if it has none and is no operator. */
export async function findAccount(
  db: UserDb,
  by: Pick<User, '_id'> | Pick<User, 'email'>,
): Promise<Account | null> {
  const [found] = await db.users.aggregate<User & { organizations: Organization[] }>([
    { $match: by },
    {
      $lookup: {
        from: 'organizations',
        localField: 'organizationId',
        foreignField: '_id',
        as: 'organizations',
      },
    },
  ]);
  if (found === undefined) return null;
  const { organizations, ...user } = found;
  const [organization = null] = organizations;
  return organization === null && user.organizationId !== null ? null : { user, organization };
}

/** Sets a password, which ends the user's sessions and an open invitation. Null if there is no such user. */
export function setPassword(
  db: UserDb,
  by: Pick<User, '_id'> | Pick<User, 'email'>,
  passwordHash: string,
): Promise<User | null> {
  return db.users
    .findOneAndUpdate(by, passwordChange(passwordHash), { returnDocument: 'after' })
    .lean<User>()
    .exec();
}

function passwordChange(passwordHash: string) {
  return { passwordHash, sessionsEndedAt: new Date(), invitation: null };
}

/**
 * Gives a user a link that sets a password once, in place of an earlier one. Until then, the password and the sessions
 * stay. Null if there is no such user, or if the user is disabled.
 */
export function inviteUser(
  db: UserDb,
  { id, organizationId }: UserKey,
  { token, by }: { token: string; by: string },
): Promise<User | null> {
  const expiresAt = new Date(Date.now() + invitationDays * 24 * 3_600_000);
  return db.users
    .findOneAndUpdate(
      { _id: id, organizationId, disabledAt: null },
      { invitation: { digest: digestOf(token), by, expiresAt } },
      { returnDocument: 'after' },
    )
    .lean<User>()
    .exec();
}

const invitedBy = (token: string) => ({
  'invitation.digest': digestOf(token),
  'invitation.expiresAt': { $gt: new Date() },
  disabledAt: null,
});

/** Returns the account that an invitation's token is for; null if it was used, replaced or has expired. */
export async function findInvitation(db: UserDb, token: string): Promise<Account | null> {
  const found = await db.users.findOne(invitedBy(token), { _id: 1 }).lean<Pick<User, '_id'>>().exec();
  return found && findAccount(db, { _id: found._id });
}

/** Sets a password with an invitation's token; exactly one concurrent call succeeds. Null as above. */
export function acceptInvitation(db: UserDb, token: string, passwordHash: string): Promise<User | null> {
  return db.users
    .findOneAndUpdate(invitedBy(token), passwordChange(passwordHash), { returnDocument: 'after' })
    .lean<User>()
    .exec();
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function findUser(db: UserDb, { id, organizationId }: UserKey): Promise<User | null> {
  return db.users.findOne({ _id: id, organizationId }).lean<User>().exec();
}

/** Ends all sessions of an organization's users. */
export async function endSessions(db: UserDb, organizationId: string): Promise<void> {
  await db.users.updateMany({ organizationId }, { sessionsEndedAt: new Date() });
}

/** Ends the invitations that a user or an API key has made. */
export async function withdrawInvitations(db: UserDb, by: string): Promise<void> {
  await db.users.updateMany({ 'invitation.by': by }, { invitation: null });
}

/**
 * Changes a user. Another role or status ends the invitations that the user got or made; disabling also ends the sessions.
 * Neither comes back when the user is enabled again. A repeated disabling keeps the first time. Null if there is no such
 * user.
 */
export async function changeUser(
  db: UserDb,
  by: Pick<User, '_id' | 'organizationId'> | Pick<User, 'email'>,
  { role, isDisabled }: { role?: Role | undefined; isDisabled?: boolean | undefined },
): Promise<User | null> {
  const now = new Date();
  const ended = { disabledAt: now, sessionsEndedAt: now, invitation: null };
  const updates = [
    ...(role === undefined ? [] : [[{ role: { $ne: role } }, { role, invitation: null }] as const]),
    ...(isDisabled === true ? [[{ disabledAt: null }, ended] as const] : []),
    ...(isDisabled === false ? [[{}, { disabledAt: null }] as const] : []),
  ];
  let isChanged = false;
  for (const [filter, update] of updates)
    isChanged = (await db.users.updateOne({ ...by, ...filter }, update)).modifiedCount > 0 || isChanged;
  const user = await db.users.findOne(by).lean<User>().exec();
  if (user !== null && isChanged) await withdrawInvitations(db, user._id);
  return user;
}

/** Deletes a user, which ends the user's sessions and invitations. Returns whether there was one. */
export async function deleteUser(db: UserDb, { id, organizationId }: UserKey): Promise<boolean> {
  const isDeleted = (await db.users.deleteOne({ _id: id, organizationId })).deletedCount > 0;
  if (isDeleted) await withdrawInvitations(db, id);
  return isDeleted;
}

type UserId = Pick<User, '_id'>;

/** Turns on two-step login, or replaces its secret and recovery codes. Ends the user's sessions. */
export function enableTwoStep(db: UserDb, { _id }: UserId, twoStep: TwoStep): Promise<User> {
  return db.users
    .findOneAndUpdate({ _id }, { twoStep, sessionsEndedAt: new Date() }, { returnDocument: 'after' })
    .orFail()
    .lean<User>()
    .exec();
}

/** Turns off two-step login. Null if there is no such user. */
export function disableTwoStep(
  db: UserDb,
  by: Pick<User, '_id' | 'organizationId'> | Pick<User, 'email'>,
): Promise<User | null> {
  return db.users.findOneAndUpdate(by, { twoStep: null }, { returnDocument: 'after' }).lean<User>().exec();
}

/** Uses the code of a period. Returns false if it, or a later one, was used: exactly one concurrent use succeeds. */
export async function takeCodePeriod(db: UserDb, { _id }: UserId, period: number): Promise<boolean> {
  const unused = { _id, 'twoStep.lastPeriod': { $lt: period } };
  return (await db.users.updateOne(unused, { 'twoStep.lastPeriod': period })).modifiedCount === 1;
}

/** Uses a recovery code. Returns false if there is none like it. */
export async function takeRecoveryCode(db: UserDb, { _id }: UserId, digest: string): Promise<boolean> {
  const unused = { _id, 'twoStep.recoveryDigests': digest };
  const use = { $pull: { 'twoStep.recoveryDigests': digest } };
  return (await db.users.updateOne(unused, use)).modifiedCount === 1;
}

export async function replaceRecoveryCodes(
  db: UserDb,
  { _id }: UserId,
  recoveryDigests: string[],
): Promise<void> {
  await db.users.updateOne({ _id, twoStep: { $ne: null } }, { 'twoStep.recoveryDigests': recoveryDigests });
}

export async function recordLogIn(db: UserDb, { _id }: Pick<User, '_id'>): Promise<void> {
  await db.users.updateOne({ _id }, { lastLogInAt: new Date() });
}

/** Replaces the hash of an unchanged password; sessions continue. */
export async function renewPasswordHash(
  db: UserDb,
  { _id, passwordHash }: Pick<User, '_id' | 'passwordHash'>,
  renewed: string,
): Promise<void> {
  await db.users.updateOne({ _id, passwordHash }, { passwordHash: renewed });
}
