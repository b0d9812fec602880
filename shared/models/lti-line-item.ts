import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isUnleased, leaseFields, newLease, noLease } from '../platform/lease.ts';
import type { Leased } from '../platform/lease.ts';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';

/** Longer than it takes to find or create a line item. A process that holds it longer has died. */
const leaseMs = 60_000;

/** The line item that Lectern found or created for a resource link without one from the platform. */
export interface LtiLineItem extends Leased {
  /** The id of the resource link. */
  _id: string;
  /** Null until it is known. */
  url: string | null;
}

export interface LtiLineItemDb {
  ltiLineItems: Model<LtiLineItem>;
}

export const ltiLineItemSchema = new Schema<LtiLineItem>(
  {
    _id: { type: String, required: true },
    url: { type: String, default: null },
    ...leaseFields,
  },
  schemaOptions,
);

/**
 * Returns the URL of a link's line item, or else a lease for finding it; the lease is null while another process has
 * it.
 */
export async function findOrClaimLineItem(
  db: LtiLineItemDb,
  linkId: string,
): Promise<{ url: string } | { leaseId: string | null }> {
  const known = await db.ltiLineItems.findById(linkId).lean<LtiLineItem>().exec();
  if (known !== null && known.url !== null) return { url: known.url };
  const leaseId = randomUUID();
  const isFree = { $and: [{ $eq: [{ $ifNull: ['$url', null] }, null] }, isUnleased] };
  const lease = newLease(leaseId, leaseMs);
  const item = await upsertSafely(() =>
    db.ltiLineItems
      .findOneAndUpdate(
        { _id: linkId },
        [
          {
            $set: {
              url: { $ifNull: ['$url', null] },
              leaseId: { $cond: [isFree, lease.leaseId, '$leaseId'] },
              leaseUntil: { $cond: [isFree, lease.leaseUntil, '$leaseUntil'] },
            },
          },
        ],
        { upsert: true, returnDocument: 'after', updatePipeline: true },
      )
      .lean<LtiLineItem>()
      .exec(),
  );
  if (item.url !== null) return { url: item.url };
  return { leaseId: item.leaseId === leaseId ? leaseId : null };
}

/**
 * Stores the found URL, or null, and ends the lease.
 *
 * @returns false without changes if the lease was lost.
 */
export async function endLineItemClaim(
  db: LtiLineItemDb,
  linkId: string,
  { leaseId, url }: { leaseId: string; url: string | null },
): Promise<boolean> {
  const update = { $set: { url, ...noLease } };
  const { matchedCount } = await db.ltiLineItems.updateOne({ _id: linkId, leaseId }, update);
  return matchedCount === 1;
}

/** Forgets a line item that the platform no longer knows, so that the next send looks for one. */
export async function forgetLineItem(db: LtiLineItemDb, linkId: string, url: string): Promise<void> {
  await db.ltiLineItems.updateOne({ _id: linkId, url }, { $set: { url: null } });
}
