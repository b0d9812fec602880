import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isInRanges } from '../accounts/allowed-addresses.ts';
import {
  deriveCredentials,
  generateCredentials,
  hashSecretKey,
  secretKeyMatches,
} from '../accounts/credentials.ts';
import type { Credentials } from '../accounts/credentials.ts';
import type { KeyScopes } from '../accounts/permissions.ts';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';
import { batched } from './batched.ts';
import { findOrganization } from './organization.ts';
import type { Organization, OrganizationDb } from './organization.ts';
import { withdrawInvitations } from './user.ts';
import type { UserDb } from './user.ts';

/** Stored API credentials. The secret is shown once and never stored. */
export interface ApiKey {
  /** The public key, `lkp_…`. */
  _id: string;
  organizationId: string;
  label: string | null;
  /** The id of the user, or the public key, that created or rotated it; null for the command line. */
  createdBy: string | null;
  secretHash: string;
  scopes: KeyScopes;
  /** The ranges of IP addresses from which it is valid, in CIDR notation; null for all. */
  allowedAddresses: readonly string[] | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** May lag by up to a minute. */
  lastUsedAt: Date | null;
}

export interface ApiKeyDb {
  apiKeys: Model<ApiKey>;
}

export const apiKeySchema = new Schema<ApiKey>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    label: { type: String, default: null },
    createdBy: { type: String, default: null },
    secretHash: { type: String, required: true },
    scopes: { type: [String], default: null },
    allowedAddresses: { type: [String], default: null },
    createdAt: { type: Date, required: true, default: () => new Date() },
    expiresAt: { type: Date, default: null },
    revokedAt: { type: Date, default: null },
    lastUsedAt: { type: Date, default: null },
  },
  schemaOptions,
);
apiKeySchema.index({ organizationId: 1, createdAt: -1, _id: 1 });

const lastUsedResolutionMs = 60_000;

/**
 * Creates a key for an organization, with all scopes by default. Only this return value contains the secret.
 *
 * @param id of the request. An earlier run of the request may have created the key already.
 */
export async function issueApiKey(
  db: ApiKeyDb,
  pepper: string,
  {
    scopes = null,
    ...fields
  }: Pick<ApiKey, 'organizationId' | 'label' | 'expiresAt'> &
    Partial<Pick<ApiKey, 'scopes' | 'allowedAddresses' | 'createdBy'>>,
  id?: string,
): Promise<Credentials> {
  const credentials = id === undefined ? generateCredentials() : deriveCredentials(id, pepper);
  const { publicKey: _id, secretKey } = credentials;
  try {
    await db.apiKeys.create({ _id, secretHash: hashSecretKey(secretKey, pepper), scopes, ...fields });
  } catch (error) {
    if (id === undefined || !isDuplicate(error)) throw error;
  }
  return credentials;
}

/** Selects a key of an organization, or of any for operators. */
export interface KeySelection {
  publicKey: string;
  organizationId?: string;
}

const selected = ({ publicKey, organizationId }: KeySelection) => ({
  _id: publicKey,
  ...(organizationId !== undefined && { organizationId }),
});

/** Returns null if there is no such key. */
export function findApiKey(db: ApiKeyDb, key: KeySelection): Promise<ApiKey | null> {
  return db.apiKeys.findOne(selected(key)).lean<ApiKey>().exec();
}

const findKey = batched(async (db: ApiKeyDb, publicKeys: readonly string[]) => {
  const keys = await db.apiKeys.aggregate<ApiKey & { organizations: Organization[] }>([
    { $match: { _id: { $in: [...new Set(publicKeys)] } } },
    {
      $lookup: {
        from: 'organizations',
        localField: 'organizationId',
        foreignField: '_id',
        as: 'organizations',
      },
    },
  ]);
  const byPublicKey = new Map(keys.map((key) => [key._id, key]));
  return (publicKey) => byPublicKey.get(publicKey);
});

/** Reasons for rejecting credentials. An unknown public key and a wrong secret are the same fault. */
export type CredentialsFault = 'unknown' | 'revoked' | 'expired' | 'otherAddress' | 'suspended';

/** An organization, and the key with which a request acts for it. */
export interface Authenticated {
  organization: Organization;
  publicKey: string;
  scopes: KeyScopes;
  limits: KeyLimits;
}

export type Authentication = Authenticated | { fault: CredentialsFault };

/**
 * Returns the organization of credentials with its current plan, or the fault. It takes one round trip, so a revocation
 * and a change of plan take effect at once. Only the right secret reveals that a key was revoked or has expired. All
 * other secrets get the same fault after the same steps.
 *
 * @param address the client's IP address.
 */
export async function authenticate(
  db: ApiKeyDb,
  pepper: string,
  credentials: Credentials,
  address: string,
): Promise<Authentication> {
  const key = await findKey(db, credentials.publicKey);
  const now = new Date();
  if (!secretKeyMatches(credentials.secretKey, key ?? null, pepper) || key === undefined)
    return { fault: 'unknown' };
  if (key.revokedAt !== null) return { fault: 'revoked' };
  if (key.expiresAt !== null && key.expiresAt <= now) return { fault: 'expired' };
  if (key.allowedAddresses !== null && !isInRanges(address, key.allowedAddresses))
    return { fault: 'otherAddress' };
  if (key.lastUsedAt === null || now.getTime() - key.lastUsedAt.getTime() >= lastUsedResolutionMs) {
    await db.apiKeys.updateOne({ _id: key._id }, { $max: { lastUsedAt: now } });
  }
  const [organization] = key.organizations;
  if (organization === undefined) return { fault: 'unknown' };
  if (organization.suspendedAt) return { fault: 'suspended' };
  const { _id: publicKey, scopes, expiresAt, allowedAddresses } = key;
  return { organization, publicKey, scopes, limits: { expiresAt, allowedAddresses } };
}

/** Returns the keys of an organization, oldest first. */
export function listApiKeys(db: ApiKeyDb, organizationId: string): Promise<ApiKey[]> {
  return db.apiKeys.find({ organizationId }).sort({ createdAt: 1 }).lean<ApiKey[]>().exec();
}

/** Returns the organization of a key. @throws if there is no such key. */
export async function ownerOfApiKey(db: ApiKeyDb, publicKey: string): Promise<string> {
  return (await db.apiKeys.findById(publicKey, { organizationId: 1 }).lean<ApiKey>().orFail()).organizationId;
}

/**
 * Revokes a key immediately, and the invitations that it made. A repeated revocation keeps the first time. Null if there
 * is no such key.
 */
export async function revokeApiKey(db: ApiKeyDb & UserDb, key: KeySelection): Promise<ApiKey | null> {
  await db.apiKeys.updateOne({ ...selected(key), revokedAt: null }, { revokedAt: new Date() });
  const revoked = await findApiKey(db, key);
  if (revoked !== null) await withdrawInvitations(db, revoked._id);
  return revoked;
}

/** Sets the ranges of IP addresses from which a key is valid, null for all; returns as above. */
export function setAllowedAddresses(
  db: ApiKeyDb,
  publicKey: string,
  allowedAddresses: readonly string[] | null,
): Promise<ApiKey | null> {
  return db.apiKeys
    .findOneAndUpdate({ _id: publicKey, revokedAt: null }, { allowedAddresses }, { returnDocument: 'after' })
    .lean<ApiKey>()
    .exec();
}

/** Returns when a key expires that is issued now; null for never. */
export function defaultExpiry({ keyDays }: Pick<Organization, 'keyDays'>): Date | null {
  return keyDays === null ? null : new Date(Date.now() + keyDays * 24 * 3600 * 1000);
}

/** What limits a key of a caller that is one itself. */
export type KeyLimits = Pick<ApiKey, 'expiresAt' | 'allowedAddresses'>;

/** Returns the earlier of two expiries; null for never. */
export function earlierExpiry(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/**
 * Issues a successor with the same label, scopes and addresses, and the organization's expiry. The old key stays valid
 * for `overlapSeconds`, but never beyond its own expiry. Null if there is no such key, or if it was revoked.
 *
 * @param given.id as in {@link issueApiKey}.
 * @param given.latestExpiry the successor expires no later; null for no such limit.
 */
export async function rotateApiKey(
  db: ApiKeyDb & OrganizationDb,
  pepper: string,
  key: KeySelection,
  overlapSeconds: number,
  given: { id?: string; createdBy?: string; latestExpiry?: Date | null } = {},
): Promise<Credentials | null> {
  const old = await db.apiKeys
    .findOne({ ...selected(key), revokedAt: null })
    .lean<ApiKey>()
    .exec();
  const organization = old && (await findOrganization(db, old.organizationId));
  if (old === null || organization === null) return null;
  const { _id, organizationId, label, scopes, allowedAddresses } = old;
  // The successor comes first: a crash in between leaves two valid keys, never none.
  const { id, createdBy = null, latestExpiry = null } = given;
  const fields = {
    ...{ organizationId, label, scopes, allowedAddresses, createdBy },
    expiresAt: earlierExpiry(defaultExpiry(organization), latestExpiry),
  };
  const successor = await issueApiKey(db, pepper, fields, id);
  const expiresAt = new Date(Date.now() + overlapSeconds * 1000);
  await db.apiKeys.updateOne(
    { _id, $or: [{ expiresAt: null }, { expiresAt: { $gt: expiresAt } }] },
    { expiresAt },
  );
  return successor;
}
