import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { LecternError } from '../platform/errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import { batched } from './batched.ts';
import { resumeTokens, suspendTokens } from './token-revocation.ts';
import type { TokenRevocationDb } from './token-revocation.ts';

/** An organization's plan; only `edtech` may export. */
export const plans = ['solo', 'edtech'] as const;
export type Plan = (typeof plans)[number];

/** A tenant, to which all other data belong. Credentials grant access to one tenant only. */
export interface Organization {
  _id: string;
  slug: string;
  name: string;
  plan: Plan;
  /** Origins whose pages may embed its lessons; any page may if there are none. */
  allowedOrigins: string[];
  /** The days after which its new keys expire; null for never. */
  keyDays: number | null;
  /** The bytes that it may store; 0 for no limit, null for that of the installation. */
  maxStoredBytes: number | null;
  /** Whether its lessons play videos in the players of YouTube and Vimeo. */
  externalVideos: boolean;
  /** Since when the operator has closed it: its keys, sessions and learners' tokens are rejected. */
  suspendedAt: Date | null;
  createdAt: Date;
}

export interface OrganizationDb {
  organizations: Model<Organization>;
}

export const organizationSchema = new Schema<Organization>(
  {
    _id: uuidField,
    slug: { type: String, required: true },
    name: { type: String, required: true },
    plan: { type: String, required: true, enum: plans },
    allowedOrigins: { type: [String], default: [] },
    keyDays: { type: Number, default: null },
    maxStoredBytes: { type: Number, default: null },
    externalVideos: { type: Boolean, default: false },
    suspendedAt: { type: Date, default: null },
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
organizationSchema.index({ slug: 1 }, { unique: true });
organizationSchema.index({ createdAt: -1, _id: 1 });

/**
 * Stores an organization.
 *
 * @throws {LecternError} CONFLICT when the slug is taken.
 */
export async function createOrganization(
  db: OrganizationDb,
  fields: Pick<Organization, 'slug' | 'name' | 'plan'> & Partial<Pick<Organization, '_id'>>,
): Promise<Organization> {
  try {
    return (await db.organizations.create(fields)).toObject();
  } catch (error) {
    if (isDuplicate(error))
      throw new LecternError('CONFLICT', `An organization with the slug "${fields.slug}" exists.`);
    throw error;
  }
}

export function findOrganizationBySlug(db: OrganizationDb, slug: string): Promise<Organization | null> {
  return db.organizations.findOne({ slug }).lean<Organization>().exec();
}

export function findOrganization(db: OrganizationDb, id: string): Promise<Organization | null> {
  return findById(db, id);
}

const findById = batched(async (db: OrganizationDb, ids: readonly string[]) => {
  const found = await db.organizations
    .find({ _id: { $in: [...new Set(ids)] } })
    .lean<Organization[]>()
    .exec();
  const byId = new Map(found.map((organization) => [organization._id, organization]));
  return (id) => byId.get(id) ?? null;
});

/** Returns all organizations, by slug. */
export function listOrganizations(db: OrganizationDb): Promise<Organization[]> {
  return db.organizations.find().sort({ slug: 1 }).lean<Organization[]>().exec();
}

/** What operators and administrators change about an organization. */
export type OrganizationChanges = Partial<
  Pick<
    Organization,
    'name' | 'plan' | 'allowedOrigins' | 'keyDays' | 'maxStoredBytes' | 'externalVideos' | 'suspendedAt'
  >
>;

/** Changes an organization, with effect from the next request. Null if there is none. */
export function changeOrganization(
  db: OrganizationDb,
  by: Pick<Organization, '_id'> | Pick<Organization, 'slug'>,
  changes: OrganizationChanges,
): Promise<Organization | null> {
  return db.organizations
    .findOneAndUpdate(by, changes, { returnDocument: 'after' })
    .lean<Organization>()
    .exec();
}

/**
 * Closes an organization to its servers, users and learners, or opens it again. Its data stay, and what it has begun goes
 * on: imports, exports, deliveries. Tokens from before stay invalid. Null if there is no such organization.
 */
export async function suspendOrganization(
  db: OrganizationDb & TokenRevocationDb,
  id: string,
  isSuspended: boolean,
): Promise<Organization | null> {
  if (isSuspended) {
    await db.organizations.updateOne({ _id: id, suspendedAt: null }, { suspendedAt: new Date() });
    await suspendTokens(db, id);
    return findOrganization(db, id);
  }
  await resumeTokens(db, id);
  return changeOrganization(db, { _id: id }, { suspendedAt: null });
}
