import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { z } from 'zod';
import { roles } from '../accounts/permissions.ts';
import type { Role } from '../accounts/permissions.ts';
import { LecternError } from '../platform/errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import type { Organization } from './organization.ts';

/** Normalizes an email address for storage and lookup. */
export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** A login account in an organization, or of an operator. */
export interface User {
  _id: string;
  /** Null for operators, and only for them. */
  organizationId: string | null;
  /** Normalized by {@link emailSchema}; unique across organizations. */
  email: string;
  role: Role;
  /** The hash that passwords.ts returns. */
  passwordHash: string;
  createdAt: Date;
  /** Earlier sessions are invalid. */
  passwordChangedAt: Date;
  disabledAt: Date | null;
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
    passwordHash: { type: String, required: true },
    createdAt: { type: Date, required: true, default: () => new Date() },
    passwordChangedAt: { type: Date, required: true, default: () => new Date() },
    disabledAt: { type: Date, default: null },
  },
  schemaOptions,
);
userSchema.index({ email: 1 }, { unique: true });
userSchema.index({ organizationId: 1, email: 1 });

/**
 * Stores a user.
 *
 * @throws {LecternError} CONFLICT when any user has the address.
 */
export async function createUser(
  db: UserDb,
  fields: Pick<User, 'organizationId' | 'email' | 'role' | 'passwordHash'>,
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

/** Sets a password, which ends the user's sessions. Null if there is no such user. */
export function setPassword(db: UserDb, email: string, passwordHash: string): Promise<User | null> {
  return db.users
    .findOneAndUpdate({ email }, { passwordHash, passwordChangedAt: new Date() }, { returnDocument: 'after' })
    .lean<User>()
    .exec();
}

/** Replaces the hash of an unchanged password; sessions continue. */
export async function renewPasswordHash(
  db: UserDb,
  { _id, passwordHash }: Pick<User, '_id' | 'passwordHash'>,
  renewed: string,
): Promise<void> {
  await db.users.updateOne({ _id, passwordHash }, { passwordHash: renewed });
}

/** Disables a user; a repetition keeps the first time. Null if there is no such user. */
export async function disableUser(db: UserDb, email: string): Promise<User | null> {
  await db.users.updateOne({ email, disabledAt: null }, { disabledAt: new Date() });
  return db.users.findOne({ email }).lean<User>().exec();
}
