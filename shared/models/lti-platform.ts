import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { LecternError } from '../platform/errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import type { LtiScoreDb } from './lti-score.ts';
import { dismissScoresOf } from './lti-score-changes.ts';

/** `pending` until an operator has approved what registered itself. */
export const platformStatuses = ['active', 'pending'] as const;
export type PlatformStatus = (typeof platformStatuses)[number];

/** A learning platform that may launch the lessons of one organization: one registration of Lectern in it. */
export interface LtiPlatform {
  /** The platformId of the contract's 4.2. */
  _id: string;
  organizationId: string;
  /** The `iss` of its messages. */
  issuer: string;
  /** What the platform calls Lectern: the `aud` of its messages. */
  clientId: string;
  /** The deployments whose launches are taken. */
  deploymentIds: string[];
  /** Where a login goes on: the OIDC authorization endpoint. */
  authUrl: string;
  tokenUrl: string;
  jwksUrl: string;
  /** The `aud` of assertions to the token endpoint; null for the endpoint's own address. */
  tokenAudience: string | null;
  /** What the platform says it is, such as "Moodle of the Example School". */
  name: string | null;
  status: PlatformStatus;
  createdAt: Date;
}

/** The part of the database that these operations use. */
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
// Some platforms have one issuer and one client id for all their customers, and tell them apart by deployment.
ltiPlatformSchema.index({ issuer: 1, clientId: 1, deploymentIds: 1 }, { unique: true });
ltiPlatformSchema.index({ organizationId: 1 });

/** @throws {LecternError} CONFLICT when a platform of any organization has one of the deployments. */
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

/** All that an issuer may mean, whatever their status, oldest first. */
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

/** The platforms of an organization, or of all, oldest first. */
export function listPlatforms(db: LtiPlatformDb, organizationId?: string): Promise<LtiPlatform[]> {
  return db.ltiPlatforms
    .find(organizationId === undefined ? {} : { organizationId })
    .sort({ createdAt: 1, _id: 1 })
    .lean<LtiPlatform[]>()
    .exec();
}

/**
 * Lets a platform launch, and adds deployments to those that may; null when there is none.
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
 * Refuses its launches from now on, and sends it no more grades. What its learners did stays; null when there is none.
 */
export async function removePlatform(
  db: LtiPlatformDb & LtiScoreDb,
  id: string,
): Promise<LtiPlatform | null> {
  const removed = await db.ltiPlatforms.findByIdAndDelete(id).lean<LtiPlatform>().exec();
  // Whoever removed it before may have ended here.
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
