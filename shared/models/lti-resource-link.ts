import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, upsertSafely, uuidField } from '../platform/mongo.ts';
import type { LtiPlatform } from './lti-platform.ts';

/** What names a link for its platform. */
export interface ResourceLinkKey {
  platformId: string;
  deploymentId: string;
  /** The id that the platform gives it, unique in the deployment. */
  resourceLinkId: string;
}

/** A place in a course from which a lesson is launched: as its last launch described it. */
export interface LtiResourceLink extends ResourceLinkKey {
  _id: string;
  organizationId: string;
  contextId: string | null;
  lessonId: string;
  /** The version that is pinned; null for the newest published one. */
  versionId: string | null;
  /** The address of the link's line item in the platform's gradebook, which may have a query; null without one. */
  lineItemUrl: string | null;
  /** Where line items are looked for and made; null where the platform offers none. */
  lineItemsUrl: string | null;
  /** Whether the lesson was chosen without a column in the gradebook, and none is to be looked for or made. */
  withoutColumn: boolean;
  /** What the platform lets Lectern do there: scopes of Assignment and Grade Services 2.0. */
  scopes: string[];
  lastLaunchAt: Date;
}

/** The part of the database that these operations use. */
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

/** A class that launches at once says the same of its link: it need not write it so many times. */
const freshMs = 60_000;

/** What a launch says of its link: nothing of its grades where it has no word on them. */
export type DescribedLink = Omit<LtiResourceLink, '_id' | GradeFields> &
  Partial<Pick<LtiResourceLink, GradeFields>>;
type GradeFields = 'lineItemUrl' | 'lineItemsUrl' | 'scopes';

/**
 * Keeps what a launch says of its link, and what launches before it said beside that: there are platforms whose
 * launches of teachers, say, have no word on grades. `lastLaunchAt` of what says nothing new may lag behind by a
 * minute.
 */
export async function saveResourceLink(
  db: LtiResourceLinkDb,
  { platformId, deploymentId, resourceLinkId, ...fields }: DescribedLink,
): Promise<LtiResourceLink> {
  const key = { platformId, deploymentId, resourceLinkId };
  const kept = await db.ltiResourceLinks.findOne(key).lean<LtiResourceLink>().exec();
  if (kept !== null && saysNothingNew(fields, kept)) return kept;
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

function saysNothingNew(
  { lastLaunchAt, ...fields }: Omit<DescribedLink, keyof ResourceLinkKey>,
  kept: LtiResourceLink,
): boolean {
  const isFresh = lastLaunchAt.getTime() - kept.lastLaunchAt.getTime() < freshMs;
  return isFresh && isDeepStrictEqual({ ...kept, ...fields }, kept);
}

export function findResourceLink(db: LtiResourceLinkDb, id: string): Promise<LtiResourceLink | null> {
  return db.ltiResourceLinks.findById(id).lean<LtiResourceLink>().exec();
}

/** Those of a platform's links, in any of its deployments, that have one of these ids, in no order. */
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
