import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, upsertSafely, uuidField } from '../platform/mongo.ts';
import type { LtiPlatform } from './lti-platform.ts';

/** The identity of a link on its platform. */
export interface ResourceLinkKey {
  platformId: string;
  deploymentId: string;
  /** The platform's id of the link, unique in the deployment. */
  resourceLinkId: string;
}

/** A link in a course that launches a lesson, as its last launch described it. */
export interface LtiResourceLink extends ResourceLinkKey {
  _id: string;
  organizationId: string;
  contextId: string | null;
  lessonId: string;
  /** The pinned version; null for the newest published one. */
  versionId: string | null;
  /** The URL of the link's line item in the platform's gradebook, which may have a query; null without one. */
  lineItemUrl: string | null;
  /** The URL for finding and creating line items; null if the platform offers none. */
  lineItemsUrl: string | null;
  /** Whether the teacher chose no gradebook column, so that Lectern neither finds nor creates a line item. */
  withoutColumn: boolean;
  /** The permitted scopes of Assignment and Grade Services 2.0. */
  scopes: string[];
  lastLaunchAt: Date;
}

export interface LtiResourceLinkDb {
  ltiResourceLinks: Model<LtiResourceLink>;
}

export const ltiResourceLinkSchema = new Schema<LtiResourceLink>(
  {
    _id: uuidField,
    organizationId: { type: String, required: true },
    platformId: { type: String, required: true },
    deploymentId: { type: String, required: true },
    resourceLinkId: { type: String, required: true },
    contextId: { type: String, default: null },
    lessonId: { type: String, required: true },
    versionId: { type: String, default: null },
    lineItemUrl: { type: String, default: null },
    lineItemsUrl: { type: String, default: null },
    withoutColumn: { type: Boolean, default: false },
    scopes: { type: [String], default: [] },
    lastLaunchAt: { type: Date, required: true },
  },
  schemaOptions,
);
ltiResourceLinkSchema.index({ platformId: 1, deploymentId: 1, resourceLinkId: 1 }, { unique: true });
ltiResourceLinkSchema.index({ organizationId: 1, lessonId: 1 });

/** All launches of a class describe the link alike, so most need no write. */
const freshMs = 60_000;

/** A launch's description of its link; the grade fields are missing if the launch has no grade claim. */
export type DescribedLink = Omit<LtiResourceLink, '_id' | GradeFields> &
  Partial<Pick<LtiResourceLink, GradeFields>>;
type GradeFields = 'lineItemUrl' | 'lineItemsUrl' | 'scopes';

/**
 * Stores a launch's description of its link. Missing grade fields keep their values, because some platforms omit grades
 * in teachers' launches. `lastLaunchAt` may lag by a minute if nothing else changes.
 */
export async function saveResourceLink(
  db: LtiResourceLinkDb,
  { platformId, deploymentId, resourceLinkId, ...fields }: DescribedLink,
): Promise<LtiResourceLink> {
  const key = { platformId, deploymentId, resourceLinkId };
  const kept = await db.ltiResourceLinks.findOne(key).lean<LtiResourceLink>().exec();
  if (kept !== null && isUnchanged(fields, kept)) return kept;
  return upsertSafely(() =>
    db.ltiResourceLinks
      .findOneAndUpdate(
        key,
        { $set: fields, $setOnInsert: { _id: randomUUID() } },
        { upsert: true, returnDocument: 'after' },
      )
      .lean<LtiResourceLink>()
      .exec(),
  );
}

function isUnchanged(
  { lastLaunchAt, ...fields }: Omit<DescribedLink, keyof ResourceLinkKey>,
  kept: LtiResourceLink,
): boolean {
  const isFresh = lastLaunchAt.getTime() - kept.lastLaunchAt.getTime() < freshMs;
  return isFresh && isDeepStrictEqual({ ...kept, ...fields }, kept);
}

export function findResourceLink(db: LtiResourceLinkDb, id: string): Promise<LtiResourceLink | null> {
  return db.ltiResourceLinks.findById(id).lean<LtiResourceLink>().exec();
}

/** Returns the platform's links with these ids, in any of its deployments, unordered. */
export function findResourceLinks(
  db: LtiResourceLinkDb,
  { _id: platformId, deploymentIds }: Pick<LtiPlatform, '_id' | 'deploymentIds'>,
  resourceLinkIds: readonly string[],
): Promise<LtiResourceLink[]> {
  return db.ltiResourceLinks
    .find({
      platformId,
      deploymentId: { $in: deploymentIds },
      resourceLinkId: { $in: [...resourceLinkIds] },
    })
    .lean<LtiResourceLink[]>()
    .exec();
}
