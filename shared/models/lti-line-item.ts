import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isUnleased, leaseFields, newLease, noLease } from '../platform/lease.ts';
import type { Leased } from '../platform/lease.ts';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';

/** Longer than it takes to find or make a line item. Whoever is at it for longer has ended. */
const leaseMs = 60_000;

/** The line item that Lectern found or made for a resource link to which the platform gave none. */
export interface LtiLineItem extends Leased {
  /** Of the row of the resource link. */
  _id: string;
  /** Null while there is none. */
  url: string | null;
}

/** The part of the database that these operations use. */
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

/** The address of a link's line item; else the lease with which to look for it, null while somebody else does. */
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
 * Keeps what was found, or null when nothing was, and ends the lease.
 *
 * @returns false when the lease was lost, and nothing changed.
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

/** Has a line item looked for anew that the platform no longer knows. */
export async function forgetLineItem(db: LtiLineItemDb, linkId: string, url: string): Promise<void> {
  await db.ltiLineItems.updateOne({ _id: linkId, url }, { $set: { url: null } });
}
