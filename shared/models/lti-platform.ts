import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { LecternError } from '../platform/errors.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import { removeKeySet } from './lti-key.ts';
import type { LtiKeyDb } from './lti-key.ts';
import type { LtiRegistrationDb } from './lti-registration.ts';
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
  /** Whether Lectern accepts launches of all its deployments. */
  anyDeployment: boolean;
  /** Deployments whose launches Lectern rejected, for approval; the newest last. */
  unknownDeployments: string[];
  /** The OIDC authorization endpoint, where a login continues. */
  authUrl: string;
  tokenUrl: string;
  jwksUrl: string;
  /** The `aud` of assertions to the token endpoint; null for the endpoint's URL. */
  tokenAudience: string | null;
  /** The keys with which Lectern signs for this platform. Platforms share it only as the same client of one issuer. */
  keySetId: string;
  /** The platform's name for itself, such as "Moodle of the Example School". */
  name: string | null;
  status: PlatformStatus;
  createdAt: Date;
  /** The last launch that opened a lesson or a selection; may lag by up to a minute. */
  lastLaunchAt: Date | null;
  /** The last rejected launches, the newest last; those with one code at most once a minute. */
  launchFaults: LaunchFaultRecord[];
}

export interface LaunchFaultRecord {
  /** As the page of the rejected launch shows it. */
  code: string;
  at: Date;
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
    anyDeployment: { type: Boolean, default: false },
    unknownDeployments: { type: [String], default: [] },
    authUrl: { type: String, required: true },
    tokenUrl: { type: String, required: true },
    jwksUrl: { type: String, required: true },
    tokenAudience: { type: String, default: null },
    keySetId: uuidField,
    name: { type: String, default: null },
    status: { type: String, required: true, enum: platformStatuses },
    createdAt: { type: Date, required: true, default: () => new Date() },
    lastLaunchAt: { type: Date, default: null },
    launchFaults: { type: [{ code: String, at: Date, _id: false }], default: [] },
  },
  schemaOptions,
);
// Some platforms have one issuer and one client id for all customers, and distinguish them by deployment.
// One that registered itself may claim any of them, so it takes none before its approval.
ltiPlatformSchema.index(
  { issuer: 1, clientId: 1, deploymentIds: 1 },
  { unique: true, partialFilterExpression: { status: 'active' } },
);
ltiPlatformSchema.index({ keySetId: 1 });
ltiPlatformSchema.index({ createdAt: 1, _id: 1 });
ltiPlatformSchema.index({ organizationId: 1, createdAt: 1, _id: 1 });
ltiPlatformSchema.index({ organizationId: 1, createdAt: -1, _id: 1 });
ltiPlatformSchema.index({ issuer: 1, createdAt: 1, _id: 1 });
ltiPlatformSchema.index({ issuer: 1, clientId: 1, createdAt: 1, _id: 1 });

export type NewPlatform = Omit<
  LtiPlatform,
  '_id' | 'createdAt' | 'keySetId' | 'anyDeployment' | 'unknownDeployments' | 'lastLaunchAt' | 'launchFaults'
> &
  Partial<Pick<LtiPlatform, '_id' | 'keySetId'>>;

/**
 * Stores a platform, with a new key set unless one is given.
 *
 * @throws {LecternError} CONFLICT when any organization's active platform, or another one of the organization, has one of
 *   the deployments, or when the key set signs for another client or issuer.
 */
export async function createPlatform(
  db: LtiPlatformDb,
  { keySetId, ...fields }: NewPlatform,
): Promise<LtiPlatform> {
  if (keySetId !== undefined) await assertOwnKeySet(db, { ...fields, keySetId });
  const { organizationId, issuer, clientId, deploymentIds } = fields;
  const same = deploymentIds.length === 0 ? [] : { $in: deploymentIds };
  if (await db.ltiPlatforms.exists({ organizationId, issuer, clientId, deploymentIds: same }))
    throw taken(fields);
  try {
    return (await db.ltiPlatforms.create({ ...fields, keySetId })).toObject();
  } catch (error) {
    if (isDuplicate(error)) throw taken(fields);
    throw error;
  }
}

/** Prevents that what Lectern signs for one platform is valid for another. */
async function assertOwnKeySet(
  db: LtiPlatformDb,
  {
    _id,
    keySetId,
    issuer,
    clientId,
  }: Pick<LtiPlatform, 'keySetId' | 'issuer' | 'clientId'> & { _id?: string },
): Promise<void> {
  const sharing = await db.ltiPlatforms.find({ keySetId }).lean<LtiPlatform[]>().exec();
  const other = sharing.find(
    (platform) => platform._id !== _id && (platform.issuer !== issuer || platform.clientId !== clientId),
  );
  if (other === undefined) return;
  throw new LecternError(
    'CONFLICT',
    `The key set ${keySetId} belongs to platform ${other._id}, which has another issuer or client id.`,
  );
}

/**
 * Returns the key set of Lectern's client in a platform; null if Lectern does not know the client. Platforms of several
 * organizations may be one client, which has one key set URL in the platform. They must agree in all URLs, because a
 * platform that registers itself may claim any client id.
 */
export async function findKeySetOfClient(
  db: LtiPlatformDb,
  {
    issuer,
    clientId,
    authUrl,
    tokenUrl,
    jwksUrl,
  }: Pick<LtiPlatform, 'issuer' | 'clientId' | 'authUrl' | 'tokenUrl' | 'jwksUrl'>,
): Promise<string | null> {
  const client = { issuer, clientId, authUrl, tokenUrl, jwksUrl, status: 'active' } as const;
  const found = await db.ltiPlatforms.findOne(client).sort({ createdAt: 1 }).lean<LtiPlatform>().exec();
  return found?.keySetId ?? null;
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

/** The fields that operators may change. */
export type PlatformChanges = Partial<
  Pick<
    LtiPlatform,
    | 'issuer'
    | 'clientId'
    | 'authUrl'
    | 'tokenUrl'
    | 'jwksUrl'
    | 'tokenAudience'
    | 'name'
    | 'status'
    | 'anyDeployment'
  >
>;

/**
 * Changes a platform and adds deployments; null if there is no such platform.
 *
 * @throws {LecternError} CONFLICT as {@link createPlatform}.
 */
export async function changePlatform(
  db: LtiPlatformDb,
  id: string,
  changes: PlatformChanges,
  deploymentIds: readonly string[] = [],
): Promise<LtiPlatform | null> {
  const platform = await findPlatform(db, id);
  if (platform === null) return null;
  const changed = { ...platform, ...changes };
  await assertOwnKeySet(db, changed);
  try {
    const stored = await db.ltiPlatforms
      .findByIdAndUpdate(
        id,
        { $set: changes, $addToSet: { deploymentIds: { $each: [...deploymentIds] } } },
        { returnDocument: 'after' },
      )
      .lean<LtiPlatform>()
      .exec();
    await forgetUnknownDeployments(db, changed, deploymentIds);
    return stored;
  } catch (error) {
    if (isDuplicate(error)) throw taken(deploymentIds.length > 0 ? { deploymentIds } : platform);
    throw error;
  }
}

const launchResolutionMs = 60_000;
const maxLaunchFaults = 20;

/** Records a launch of a platform, at most once a minute. @param fault the code of a rejected one; null for another. */
export async function recordLaunch(db: LtiPlatformDb, id: string, fault: string | null): Promise<void> {
  const at = new Date();
  const lately = new Date(at.getTime() - launchResolutionMs);
  if (fault === null) {
    const isStale = { $or: [{ lastLaunchAt: null }, { lastLaunchAt: { $lt: lately } }] };
    await db.ltiPlatforms.updateOne({ _id: id, ...isStale }, { lastLaunchAt: at });
    return;
  }
  await db.ltiPlatforms.updateOne(
    { _id: id, launchFaults: { $not: { $elemMatch: { code: fault, at: { $gte: lately } } } } },
    { $push: { launchFaults: { $each: [{ code: fault, at }], $slice: -maxLaunchFaults } } },
  );
}

const maxUnknownDeployments = 20;

/** Lists a deployment for approval, in all platforms that are the same client. Keeps the newest 20. */
export async function addUnknownDeployment(
  db: LtiPlatformDb,
  { issuer, clientId }: Pick<LtiPlatform, 'issuer' | 'clientId'>,
  id: string,
): Promise<void> {
  await db.ltiPlatforms.updateMany(
    { issuer, clientId, status: 'active', unknownDeployments: { $ne: id } },
    { $push: { unknownDeployments: { $each: [id], $slice: -maxUnknownDeployments } } },
  );
}

async function forgetUnknownDeployments(
  db: LtiPlatformDb,
  { issuer, clientId, anyDeployment }: LtiPlatform,
  approved: readonly string[],
): Promise<void> {
  const change = anyDeployment ? { unknownDeployments: [] } : { $pullAll: { unknownDeployments: approved } };
  await db.ltiPlatforms.updateMany({ issuer, clientId }, change);
}

/**
 * Removes a platform, and its key set if no other platform shares it. Lectern then rejects its launches and sends it no
 * more grades. Its learners' progress stays. Null if there is no such platform.
 */
export async function removePlatform(
  db: LtiPlatformDb & LtiScoreDb & LtiKeyDb,
  id: string,
): Promise<LtiPlatform | null> {
  const removed = await db.ltiPlatforms.findByIdAndDelete(id).lean<LtiPlatform>().exec();
  if (removed !== null && (await db.ltiPlatforms.exists({ keySetId: removed.keySetId })) === null) {
    await removeKeySet(db, removed.keySetId);
  }
  // Also after an earlier removal, which may have failed at this point.
  await dismissScoresOf(db, id);
  return removed;
}

/**
 * Removes the key sets that belong neither to a platform nor to an invitation, which is stored for a month after its
 * expiry. Returns how many.
 */
export async function removeUnusedKeySets(db: LtiPlatformDb & LtiKeyDb & LtiRegistrationDb): Promise<number> {
  const ofOwner = (owners: { collection: { name: string } }, as: string) => ({
    $lookup: { from: owners.collection.name, localField: '_id', foreignField: 'keySetId', as },
  });
  const unused = await db.ltiKeys.aggregate<{ _id: string }>([
    // By the index, so that MongoDB reads one key of each set: the newest.
    { $sort: { keySetId: -1, generation: -1 } },
    { $group: { _id: '$keySetId', newest: { $first: '$createdAt' } } },
    // Whoever is making a key set stores its owner first, or soon.
    { $match: { newest: { $lt: new Date(Date.now() - 24 * 3600_000) } } },
    ofOwner(db.ltiPlatforms, 'platforms'),
    ofOwner(db.ltiRegistrations, 'invitations'),
    { $match: { platforms: [], invitations: [] } },
  ]);
  for (const { _id } of unused) await removeKeySet(db, _id);
  return unused.length;
}

function taken({ deploymentIds }: { deploymentIds: readonly string[] }): LecternError {
  const deployments = deploymentIds.length === 0 ? 'without deployments' : deploymentIds.join(', ');
  return new LecternError(
    'CONFLICT',
    `A platform with this issuer and client id has the deployment already (${deployments}).`,
  );
}
