import { Schema } from 'mongoose';
import type { ClientSession, Model } from 'mongoose';
import { subscribableEvents } from '../events/event-types.ts';
import type { EventType } from '../events/event-types.ts';
import { schemaOptions, uuidField } from '../platform/mongo.ts';
import { missedField } from './missed-events.ts';
import type { MissedEvents } from './missed-events.ts';

/**
 * The reasons for disabling a webhook: its owner stopped it, its receiver returned 410, or every attempt failed for
 * three days.
 */
export const disabledReasons = ['owner', 'gone', 'failing'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** A URL of an integrator that gets an organization's events. */
export interface Webhook {
  _id: string;
  organizationId: string;
  url: string;
  /** Subscriptions. */
  types: EventType[];
  description: string;
  /** The sealed secret that signs deliveries; see shared/webhooks/secrets.ts. */
  secret: string;
  /** The secret before the last rotation, which also signs until it expires. */
  /** Identifies the rotation that set `secret`; null before the first. */
  rotationId: string | null;
  previousSecret: string | null;
  previousSecretUntil: Date | null;
  /** Null for an active webhook. */
  disabled: { reason: DisabledReason; at: Date } | null;
  /** The first of the consecutive failed attempts; null after a success. */
  failingSince: Date | null;
  /** Null if it never missed events. */
  missed: MissedEvents | null;
  createdAt: Date;
}

export interface WebhookDb {
  webhooks: Model<Webhook>;
}

export const webhookSchema = new Schema<Webhook>(
  {
    _id: uuidField,
    organizationId: { type: String, required: true },
    url: { type: String, required: true },
    types: { type: [{ type: String, enum: subscribableEvents }], required: true },
    description: { type: String, default: '' },
    secret: { type: String, required: true },
    rotationId: { type: String, default: null },
    previousSecret: { type: String, default: null },
    previousSecretUntil: { type: Date, default: null },
    disabled: {
      type: new Schema(
        { reason: { type: String, enum: disabledReasons }, at: Date },
        { _id: false, strict: 'throw' },
      ),
      default: null,
    },
    failingSince: { type: Date, default: null },
    missed: missedField,
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
webhookSchema.index({ organizationId: 1, createdAt: 1 });

export async function insertWebhook(
  db: WebhookDb,
  fields: Pick<Webhook, '_id' | 'organizationId' | 'url' | 'types' | 'description' | 'secret'>,
): Promise<Webhook> {
  return (await db.webhooks.create(fields)).toObject();
}

/** Returns the webhooks of organizations, the oldest first. */
export async function listWebhooks(db: WebhookDb, organizationIds: readonly string[]): Promise<Webhook[]> {
  const found = await db.webhooks
    .find({ organizationId: { $in: [...organizationIds] } })
    .lean<Webhook[]>()
    .exec();
  return found.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

export function countWebhooks(db: WebhookDb, organizationId: string): Promise<number> {
  return db.webhooks.countDocuments({ organizationId }).exec();
}

/** Returns a webhook of an organization, or of any; null if there is none. */
export function findWebhook(db: WebhookDb, id: string, organizationId?: string): Promise<Webhook | null> {
  return db.webhooks
    .findOne({ _id: id, ...(organizationId !== undefined && { organizationId }) })
    .lean<Webhook>()
    .exec();
}

/**
 * Changes a webhook; returns it, or null if there is none.
 *
 * @param condition.rotationId changes it only if its last rotation is this one.
 */
export function updateWebhook(
  db: WebhookDb,
  { id, organizationId }: { id: string; organizationId: string },
  changes: Partial<
    Pick<
      Webhook,
      | 'url'
      | 'types'
      | 'description'
      | 'disabled'
      | 'failingSince'
      | 'secret'
      | 'rotationId'
      | 'previousSecret'
      | 'previousSecretUntil'
    >
  >,
  condition: Partial<Pick<Webhook, 'rotationId'>> = {},
): Promise<Webhook | null> {
  return db.webhooks
    .findOneAndUpdate(
      { _id: id, organizationId, ...condition },
      { $set: changes },
      { returnDocument: 'after' },
    )
    .lean<Webhook>()
    .exec();
}

/** Deletes a webhook; returns false if there was none. */
export async function deleteWebhook(db: WebhookDb, id: string, organizationId: string): Promise<boolean> {
  const { deletedCount } = await db.webhooks.deleteOne({ _id: id, organizationId });
  return deletedCount === 1;
}

/** Records the time at which a webhook began to fail, unless it was failing before. */
export async function markWebhookFailing(db: WebhookDb, id: string, at: Date): Promise<void> {
  await db.webhooks.updateOne({ _id: id, failingSince: null }, { $set: { failingSince: at } });
}

/** Records that a webhook works. */
export async function markWebhookWorking(db: WebhookDb, id: string): Promise<void> {
  await db.webhooks.updateOne({ _id: id }, { $set: { failingSince: null } });
}

/** Disables an active webhook. Returns false if it is not active. */
export async function disableWebhook(
  db: WebhookDb,
  id: string,
  reason: Exclude<DisabledReason, 'owner'>,
  session?: ClientSession,
): Promise<boolean> {
  const { modifiedCount } = await db.webhooks.updateOne(
    { _id: id, disabled: null },
    { $set: { disabled: { reason, at: new Date() } } },
    { session },
  );
  return modifiedCount === 1;
}

/** Counts webhooks by state: active, failing (active, but failing), and the reasons for disabling. */
export async function countWebhookStates(db: WebhookDb): Promise<Record<string, number>> {
  const counts = await db.webhooks.aggregate<{ _id: string; count: number }>([
    {
      $group: {
        _id: {
          $ifNull: [
            '$disabled.reason',
            { $cond: [{ $gt: ['$failingSince', null] }, 'active_failing', 'active'] },
          ],
        },
        count: { $sum: 1 },
      },
    },
  ]);
  return Object.fromEntries(counts.map(({ _id, count }) => [_id, count]));
}
