import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { LecternError } from '../platform/errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import { batched } from './batched.ts';

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
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
organizationSchema.index({ slug: 1 }, { unique: true });

/**
 * Stores an organization.
 *
 * @throws {LecternError} CONFLICT when the slug is taken.
 */
export async function createOrganization(
  db: OrganizationDb,
  fields: Pick<Organization, 'slug' | 'name' | 'plan'>,
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

/** Changes the plan; returns the organization, or null if none has that slug. */
export function setOrganizationPlan(
  db: OrganizationDb,
  slug: string,
  plan: Plan,
): Promise<Organization | null> {
  return updateBySlug(db, slug, { plan });
}

/** Sets the origins whose pages may embed the lessons, none for any; returns as above. */
export function setOrganizationOrigins(
  db: OrganizationDb,
  slug: string,
  allowedOrigins: string[],
): Promise<Organization | null> {
  return updateBySlug(db, slug, { allowedOrigins });
}

/** Sets the expiry of new keys and the limit of stored bytes, those that are given; returns as above. */
export function setOrganizationLimits(
  db: OrganizationDb,
  slug: string,
  limits: Partial<Pick<Organization, 'keyDays' | 'maxStoredBytes'>>,
): Promise<Organization | null> {
  return updateBySlug(db, slug, limits);
}

/** Sets whether lessons play videos in the players of YouTube and Vimeo; returns as above. */
export function setExternalVideos(
  db: OrganizationDb,
  slug: string,
  externalVideos: boolean,
): Promise<Organization | null> {
  return updateBySlug(db, slug, { externalVideos });
}

function updateBySlug(
  db: OrganizationDb,
  slug: string,
  changes: Partial<Omit<Organization, '_id' | 'slug' | 'name' | 'createdAt'>>,
): Promise<Organization | null> {
  return db.organizations
    .findOneAndUpdate({ slug }, changes, { returnDocument: 'after' })
    .lean<Organization>()
    .exec();
}
