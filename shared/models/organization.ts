import { Schema } from 'mongoose';
import { LecternError } from '../errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../mongo.ts';
import type { Database } from './database.ts';

/** What an organization pays for: only `edtech` may export. */
export const plans = ['solo', 'edtech'] as const;
export type Plan = (typeof plans)[number];

/** A tenant: everything else belongs to one, and credentials reach no further than theirs. */
export interface Organization {
  _id: string;
  slug: string;
  name: string;
  plan: Plan;
  createdAt: Date;
}

export const organizationSchema = new Schema<Organization>(
  {
    _id: uuidField,
    slug: { type: String, required: true },
    name: { type: String, required: true },
    plan: { type: String, required: true, enum: plans },
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
organizationSchema.index({ slug: 1 }, { unique: true });

/** @throws {LecternError} CONFLICT when the slug is taken. */
export async function createOrganization(
  db: Database,
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

export function findOrganizationBySlug(db: Database, slug: string): Promise<Organization | null> {
  return db.organizations.findOne({ slug }).lean<Organization>().exec();
}

/** All organizations, by slug. */
export function listOrganizations(db: Database): Promise<Organization[]> {
  return db.organizations.find().sort({ slug: 1 }).lean<Organization[]>().exec();
}

/** The organization with its new plan, or null when there is none with that slug. */
export function setOrganizationPlan(db: Database, slug: string, plan: Plan): Promise<Organization | null> {
  return db.organizations
    .findOneAndUpdate({ slug }, { plan }, { returnDocument: 'after' })
    .lean<Organization>()
    .exec();
}
