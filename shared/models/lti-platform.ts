import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { LecternError } from '../platform/errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import type { LtiScoreDb } from './lti-score.ts';
import { dismissScoresOf } from './lti-score-changes.ts';

/** `pending` until an operator has approved a self-registered platform. */
export const platformStatuses = ['active', 'pending'] as const;
export type PlatformStatus = (typeof platformStatuses)[number];

/** A learning platform that may launch an organization's lessons: one registration of Lectern there. */
export interface LtiPlatform {
  /** The platformId of LTI progress (docs/progress.md). */
  _id: string;
  organizationId: string;
  /** The `iss` of its messages. */
  issuer: string;
  /** Lectern's client id there: the `aud` of the platform's messages. */
  clientId: string;
  /** The deployments whose launches Lectern accepts. */
  deploymentIds: string[];
  /** The OIDC authorization endpoint, where a login continues. */
  authUrl: string;
  tokenUrl: string;
  jwksUrl: string;
  /** The `aud` of assertions to the token endpoint; null for the endpoint's URL. */
  tokenAudience: string | null;
  /** The platform's name for itself, such as "Moodle of the Example School". */
  name: string | null;
  status: PlatformStatus;
  createdAt: Date;
}

export interface LtiPlatformDb {
  ltiPlatforms: Model<LtiPlatform>;
}

export const ltiPlatformSchema = new Schema<LtiPlatform>(
  {
    _id: uuidField,
    organizationId: { type: String, required: true },
    issuer: { type: String, required: true },
    clientId: { type: String, required: true },
    deploymentIds: { type: [String], default: [] },
    authUrl: { type: String, required: true },
    tokenUrl: { type: String, required: true },
    jwksUrl: { type: String, required: true },
    tokenAudience: { type: String, default: null },
    name: { type: String, default: null },
    status: { type: String, required: true, enum: platformStatuses },
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
// Some platforms have one issuer and one client id for all customers, and distinguish them by deployment.
ltiPlatformSchema.index({ issuer: 1, clientId: 1, deploymentIds: 1 }, { unique: true });
ltiPlatformSchema.index({ createdAt: 1, _id: 1 });
ltiPlatformSchema.index({ organizationId: 1, createdAt: 1, _id: 1 });
ltiPlatformSchema.index({ issuer: 1, createdAt: 1, _id: 1 });
ltiPlatformSchema.index({ issuer: 1, clientId: 1, createdAt: 1, _id: 1 });

/**
 * Stores a platform.
 *
 * @throws {LecternError} CONFLICT when any organization's platform has one of the deployments.
 */
export async function createPlatform(
  db: LtiPlatformDb,
  fields: Omit<LtiPlatform, '_id' | 'createdAt'>,
): Promise<LtiPlatform> {
  try {
    return (await db.ltiPlatforms.create(fields)).toObject();
  } catch (error) {
    if (isDuplicate(error)) throw taken(fields);
    throw error;
  }
}

export function findPlatform(db: LtiPlatformDb, id: string): Promise<LtiPlatform | null> {
  return db.ltiPlatforms.findById(id).lean<LtiPlatform>().exec();
}

/** Returns the platforms of an issuer with any status, oldest first. */
export function findPlatformsOfIssuer(
  db: LtiPlatformDb,
  issuer: string,
  clientId?: string,
): Promise<LtiPlatform[]> {
  return db.ltiPlatforms
    .find({ issuer, ...(clientId !== undefined && { clientId }) })
    .sort({ createdAt: 1, _id: 1 })
    .lean<LtiPlatform[]>()
    .exec();
}

/** Returns the platforms of an organization, or of all, oldest first. */
export function listPlatforms(db: LtiPlatformDb, organizationId?: string): Promise<LtiPlatform[]> {
  return db.ltiPlatforms
    .find(organizationId === undefined ? {} : { organizationId })
    .sort({ createdAt: 1, _id: 1 })
    .lean<LtiPlatform[]>()
    .exec();
}

/**
 * Activates a platform and adds deployments; null if there is no such platform.
 *
 * @throws {LecternError} CONFLICT when another platform has one of the deployments.
 */
export async function approvePlatform(
  db: LtiPlatformDb,
  id: string,
  deploymentIds: readonly string[],
): Promise<LtiPlatform | null> {
  try {
    return await db.ltiPlatforms
      .findByIdAndUpdate(
        id,
        { $set: { status: 'active' }, $addToSet: { deploymentIds: { $each: [...deploymentIds] } } },
        { returnDocument: 'after' },
      )
      .lean<LtiPlatform>()
      .exec();
  } catch (error) {
    if (isDuplicate(error)) throw taken({ deploymentIds });
    throw error;
  }
}

/**
 * Removes a platform. Lectern then rejects its launches and sends it no more grades. Its learners' progress stays. Null
 * if there is no such platform.
 */
export async function removePlatform(
  db: LtiPlatformDb & LtiScoreDb,
  id: string,
): Promise<LtiPlatform | null> {
  const removed = await db.ltiPlatforms.findByIdAndDelete(id).lean<LtiPlatform>().exec();
  // Also after an earlier removal, which may have failed at this point.
  await dismissScoresOf(db, id);
  return removed;
}

function taken({ deploymentIds }: { deploymentIds: readonly string[] }): LecternError {
  const deployments = deploymentIds.length === 0 ? 'without deployments' : deploymentIds.join(', ');
  return new LecternError(
    'CONFLICT',
    `A platform with this issuer and client id has the deployment already (${deployments}).`,
  );
}
