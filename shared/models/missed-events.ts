import { Schema } from 'mongoose';
import type { Model } from 'mongoose';

/** The time in which a receiver got no events, because the outbox had no room for its organization; null until it has. */
export interface MissedEvents {
  since: Date;
  until: Date | null;
}

/** The schema field. */
export const missedField = {
  type: new Schema<MissedEvents>(
    { since: { type: Date, required: true }, until: { type: Date, default: null } },
    { _id: false, strict: 'throw' },
  ),
  default: null,
} as const;

/** Returns whether a receiver gets no events now. */
export function isMissing({ missed }: Pick<Receiver, 'missed'>): boolean {
  return missed !== null && missed.until === null;
}

/**
 * Notes in the receivers of an organization that they miss events from now on, or no longer. Returns whether any has
 * changed.
 */
export async function noteMissed(
  receivers: Model<Receiver>,
  organizationId: string,
  isFull: boolean,
): Promise<boolean> {
  const found = await receivers.find({ organizationId }, { missed: 1 }).lean<Receiver[]>().exec();
  const changed = found.filter((receiver) => isMissing(receiver) !== isFull);
  if (changed.length === 0) return false;
  const now = new Date();
  await receivers.updateMany(
    { _id: { $in: changed.map(({ _id }) => _id) } },
    { $set: isFull ? { missed: { since: now, until: null } } : { 'missed.until': now } },
  );
  return true;
}

/** What webhooks and destinations have in common. */
export interface Receiver {
  _id: string;
  organizationId: string;
  missed: MissedEvents | null;
}
