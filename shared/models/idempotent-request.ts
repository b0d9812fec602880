import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isUnleased, leaseFields, newLease, noLease } from '../platform/lease.ts';
import type { Leased } from '../platform/lease.ts';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';

/** A request with an idempotency key. Its lease says whether a process works on it. */
export interface IdempotentRequest extends Leased {
  /** An HMAC of organization, actor and key. */
  _id: string;
  organizationId: string;
  /** The sender of the request: type and id. */
  actor: string;
  /** An HMAC of the parsed request. */
  fingerprint: string;
  /** The id of the object that the request creates, reserved before any write, so that a retry creates no other. */
  newId: string;
  /** The sealed response; null until the request has succeeded. */
  response: string | null;
  expiresAt: Date;
}

export interface IdempotentRequestDb {
  idempotentRequests: Model<IdempotentRequest>;
}

export const idempotentRequestSchema = new Schema<IdempotentRequest>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    actor: { type: String, required: true },
    fingerprint: { type: String, required: true },
    newId: { type: String, required: true },
    response: { type: String, default: null },
    expiresAt: { type: Date, required: true },
    ...leaseFields,
  },
  schemaOptions,
);
idempotentRequestSchema.index({ organizationId: 1, actor: 1 });
idempotentRequestSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const keptMs = 24 * 3600_000;
/** Longer than requests take, so that a repeated one waits for the first. Short, in case the process has died. */
const leaseMs = 15_000;

/**
 * A lease on a request, or the reason why it does not run: it has succeeded, it is running, its key belongs to another
 * request, or its actor or organization has too many.
 */
export type Claim =
  | { kind: 'claimed'; leaseId: string; newId: string }
  | { kind: 'done'; response: string }
  | { kind: 'running' | 'mismatch' | 'actorIsFull' | 'organizationIsFull' };

type NewRequest = Pick<IdempotentRequest, '_id' | 'organizationId' | 'actor' | 'fingerprint'>;

/** The maximum numbers of stored requests. The smaller limit keeps one actor from using up the organization's. */
export interface RequestLimits {
  perActor: number;
  perOrganization: number;
}

/** Claims a request for this process. */
export async function claimRequest(
  db: IdempotentRequestDb,
  request: NewRequest,
  limits: RequestLimits,
): Promise<Claim> {
  const { _id, organizationId, actor, fingerprint } = request;
  for (;;) {
    const leaseId = randomUUID();
    const claimed = await db.idempotentRequests
      .findOneAndUpdate(
        { _id, fingerprint, response: null, $expr: isUnleased },
        [{ $set: newLease(leaseId, leaseMs) }],
        { updatePipeline: true },
      )
      .lean<IdempotentRequest>()
      .exec();
    if (claimed !== null) return { kind: 'claimed', leaseId, newId: claimed.newId };
    const found = await db.idempotentRequests.findById(_id).lean<IdempotentRequest>().exec();
    if (found !== null) {
      if (found.fingerprint !== fingerprint) return { kind: 'mismatch' };
      return found.response === null ? { kind: 'running' } : { kind: 'done', response: found.response };
    }
    if (await isFull(db, { organizationId, actor }, limits.perActor)) return { kind: 'actorIsFull' };
    if (await isFull(db, { organizationId }, limits.perOrganization)) return { kind: 'organizationIsFull' };
    await insertUnleased(db, request);
  }
}

async function isFull(
  db: IdempotentRequestDb,
  filter: { organizationId: string; actor?: string },
  limit: number,
): Promise<boolean> {
  return (await db.idempotentRequests.countDocuments(filter).limit(limit)) >= limit;
}

/** Inserts a request, unless a concurrent request has inserted it. */
async function insertUnleased(db: IdempotentRequestDb, request: NewRequest): Promise<void> {
  const expiresAt = new Date(Date.now() + keptMs);
  try {
    await db.idempotentRequests.create({
      ...request,
      newId: randomUUID(),
      response: null,
      expiresAt,
      ...noLease,
    });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
}

type Lease = Pick<IdempotentRequest, '_id'> & { leaseId: string };

/** Stores the response of a successful request. */
export async function storeResponse(
  db: IdempotentRequestDb,
  { _id, leaseId }: Lease,
  response: string,
): Promise<void> {
  await db.idempotentRequests.updateOne({ _id, leaseId }, { $set: { response, ...noLease } });
}

/** Lets a repeated request run at once, under the same reserved id. */
export async function releaseRequest(db: IdempotentRequestDb, { _id, leaseId }: Lease): Promise<void> {
  await db.idempotentRequests.updateOne({ _id, leaseId }, { $set: noLease });
}

/** Forgets a request that was rejected. */
export async function forgetRequest(db: IdempotentRequestDb, { _id, leaseId }: Lease): Promise<void> {
  await db.idempotentRequests.deleteOne({ _id, leaseId });
}
