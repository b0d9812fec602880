import { Schema } from 'mongoose';
import type { Model, Types } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';

/** The object of an action: `learner` by pseudonym, anything else by id. */
export interface AuditTarget {
  type: string;
  id: string;
}

/**
 * Actor: an API key by its public key, a user by id, an operator by login and host, the holder of a learner's token
 * by the token's id, or Lectern itself.
 */
export interface AuditActor {
  type: 'key' | 'user' | 'operator' | 'token' | 'system';
  id: string;
}

/** Stands for an organization's id in the installation's log, which has events outside all organizations. */
export const installationLog = 'installation';

/** Named like the audited endpoints and commands: `learner.erase`. */
export type AuditAction = `${string}.${string}`;

/** Values that identify no learner and are no secret. */
export type AuditDetails = Record<string, string | number | boolean | null>;

/** One action in an organization's audit log. Entries are inserted and expire; nothing changes them. */
export interface AuditEntry {
  _id: Types.ObjectId;
  /** An organization's id, or {@link installationLog}. */
  organizationId: string;
  at: Date;
  action: AuditAction;
  actor: AuditActor;
  target: AuditTarget | null;
  details: AuditDetails;
  /** An IPv4 address or an IPv6 network; null for commands and operators. */
  ip: string | null;
  /** The `X-Request-Id` of the request; null for commands. */
  requestId: string | null;
}

export interface AuditEntryDb {
  auditEntries: Model<AuditEntry>;
}

/** How long entries are kept. */
export const auditRetentionDays = 400;

export const auditEntrySchema = new Schema<AuditEntry>(
  {
    _id: { type: Schema.Types.ObjectId, required: true },
    organizationId: { type: String, required: true },
    at: { type: Date, required: true },
    action: { type: String, required: true },
    actor: { type: Schema.Types.Mixed, required: true },
    target: { type: Schema.Types.Mixed, default: null },
    details: { type: Schema.Types.Mixed, default: {} },
    ip: { type: String, default: null },
    requestId: { type: String, default: null },
  },
  { ...schemaOptions, minimize: false },
);
auditEntrySchema.index({ organizationId: 1, at: 1, _id: 1 });
auditEntrySchema.index({ organizationId: 1, 'target.id': 1, at: 1, _id: 1 });
auditEntrySchema.index({ at: 1 }, { expireAfterSeconds: auditRetentionDays * 24 * 3600 });

/** Selects entries. A learner is a pseudonym. */
export interface AuditSelection {
  since?: Date | undefined;
  until?: Date | undefined;
  action?: string | undefined;
  actorId?: string | undefined;
  learner?: string | undefined;
}

/** The position of an entry in its log. */
export type AuditPosition = Pick<AuditEntry, 'at' | '_id'>;

export const auditOrders = ['oldest', 'newest'] as const;

/**
 * Yields an organization's entries.
 *
 * @param options.after the last entry of the previous page.
 * @param options.order which come first; by default the oldest.
 */
export function readAudit(
  db: AuditEntryDb,
  organizationId: string,
  { since, until, action, actorId, learner }: AuditSelection,
  {
    after = null,
    order = 'oldest',
  }: { after?: AuditPosition | null; order?: (typeof auditOrders)[number] } = {},
): AsyncIterable<AuditEntry> {
  const at = { $gte: since ?? new Date(0), ...(until && { $lt: until }) };
  const [beyond, direction] = order === 'oldest' ? (['$gt', 1] as const) : (['$lt', -1] as const);
  const next = after && {
    at: { [`${beyond}e`]: after.at },
    $or: [{ at: { [beyond]: after.at } }, { at: after.at, _id: { [beyond]: after._id } }],
  };
  return db.auditEntries
    .find({
      organizationId,
      ...(learner !== undefined && { 'target.id': learner, 'target.type': 'learner' }),
      ...(action !== undefined && { action: action as AuditAction }),
      ...(actorId !== undefined && { 'actor.id': actorId }),
      $and: [{ at }, ...(next ? [next] : [])],
    })
    .sort({ at: direction, _id: direction })
    .lean<AuditEntry>()
    .cursor();
}
