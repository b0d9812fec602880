import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { z } from 'zod';
import { LecternError } from '../platform/errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import type { Organization } from './organization.ts';

/** What a user is to the pages that use Lectern, which are told; in Lectern both may do the same. */
export const roles = ['author', 'admin'] as const;
export type Role = (typeof roles)[number];

/** An e-mail address in the one form in which it is stored and looked up. */
export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** Someone who logs in, in an organization. */
export interface User {
  _id: string;
  organizationId: string;
  /** As {@link emailSchema} gives it; a user of one organization is none of another. */
  email: string;
  role: Role;
  /** As passwords.ts makes it. */
  passwordHash: string;
  createdAt: Date;
  /** Sessions of an earlier password have ended. */
  passwordChangedAt: Date;
  disabledAt: Date | null;
}

/** A user with the organization, as it is now. */
export interface Account {
  user: User;
  organization: Organization;
}

/** The part of the database that these operations use. */
export interface UserDb {
  users: Model<User>;
}

export const userSchema = new Schema<User>(
  {
    _id: uuidField,
    organizationId: { type: String, required: true },
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

/** @throws {LecternError} CONFLICT when a user of any organization has the address. */
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

/** The users of an organization, by e-mail address. */
export function listUsers(db: UserDb, organizationId: string): Promise<User[]> {
  return db.users.find({ organizationId }).sort({ email: 1 }).lean<User[]>().exec();
}

/** A user, disabled or not, in one round trip with the organization; null when either is gone. */
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
  const [organization] = organizations;
  return organization === undefined ? null : { user, organization };
}

/** Sets another password, which ends the user's sessions. Null when there is no such user. */
export function setPassword(db: UserDb, email: string, passwordHash: string): Promise<User | null> {
  return db.users
    .findOneAndUpdate({ email }, { passwordHash, passwordChangedAt: new Date() }, { returnDocument: 'after' })
    .lean<User>()
    .exec();
}

/** Stores the same password in another way, unless it was changed meanwhile; sessions go on. */
export async function renewPasswordHash(
  db: UserDb,
  { _id, passwordHash }: Pick<User, '_id' | 'passwordHash'>,
  renewed: string,
): Promise<void> {
  await db.users.updateOne({ _id, passwordHash }, { passwordHash: renewed });
}

/** Keeps a user out from now on; the first time of it stays. Null when there is no such user. */
export async function disableUser(db: UserDb, email: string): Promise<User | null> {
  await db.users.updateOne({ email, disabledAt: null }, { disabledAt: new Date() });
  return db.users.findOne({ email }).lean<User>().exec();
}
