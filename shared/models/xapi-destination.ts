import { Schema } from 'mongoose';
import type { ClientSession, Model } from 'mongoose';
import { schemaOptions, uuidField } from '../platform/mongo.ts';
import { missedField } from './missed-events.ts';
import type { MissedEvents } from './missed-events.ts';

/** The verbs of the statements that Lectern sends. */
export const xapiVerbs = [
  'initialized',
  'progressed',
  'answered',
  'completed',
  'passed',
  'failed',
  'terminated',
] as const;
export type XapiVerb = (typeof xapiVerbs)[number];

export const xapiVersions = ['1.0.3', '2.0.0'] as const;
export type XapiVersion = (typeof xapiVersions)[number];

/** The reason of a pause: a success without the ids of the statements, such as a web page. */
export const noIds = 'no_statement_ids';

/** A learning record store (LRS) that gets statements about an organization's learners. */
export interface XapiDestination {
  _id: string;
  organizationId: string;
  /** The URL of its xAPI, which ends with a slash. */
  endpoint: string;
  username: string;
  /** The sealed password; see shared/xapi/destinations.ts. */
  password: string;
  version: XapiVersion;
  verbs: XapiVerb[];
  /** The sealed salt of pseudonyms; null if statements name learners by their ids. */
  salt: string | null;
  /** The minimum share of points, from 0 to 1, for a passed lesson; null for neither passed nor failed. */
  passingScore: number | null;
  /** Null for an active destination; `owner`, {@link noIds}, or the status with which the LRS rejected Lectern. */
  paused: { reason: string; at: Date } | null;
  /** The number of consecutive rejected statements, and the time of the first; missing after a success. */
  rejections?: { count: number; since: Date };
  /** Null if it never missed events. */
  missed: MissedEvents | null;
  createdAt: Date;
}

export interface XapiDestinationDb {
  xapiDestinations: Model<XapiDestination>;
}

export const xapiDestinationSchema = new Schema<XapiDestination>(
  {
    _id: uuidField,
    organizationId: { type: String, required: true },
    endpoint: { type: String, required: true },
    username: { type: String, required: true },
    password: { type: String, required: true },
    version: { type: String, required: true, enum: xapiVersions },
    verbs: { type: [{ type: String, enum: xapiVerbs }], required: true },
    salt: { type: String, default: null },
    passingScore: { type: Number, default: null },
    paused: {
      type: new Schema({ reason: String, at: Date }, { _id: false, strict: 'throw' }),
      default: null,
    },
    rejections: {
      type: new Schema({ count: Number, since: Date }, { _id: false, strict: 'throw' }),
      default: undefined,
    },
    missed: missedField,
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
xapiDestinationSchema.index({ organizationId: 1, createdAt: 1 });

/** Returns the destinations of organizations, the oldest first. */
export async function listDestinations(
  db: XapiDestinationDb,
  organizationIds: readonly string[],
): Promise<XapiDestination[]> {
  const found = await db.xapiDestinations
    .find({ organizationId: { $in: [...organizationIds] } })
    .lean<XapiDestination[]>()
    .exec();
  return found.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** Returns a destination of an organization, or of any; null if there is none. */
export function findDestination(
  db: XapiDestinationDb,
  id: string,
  organizationId?: string,
): Promise<XapiDestination | null> {
  return db.xapiDestinations
    .findOne({ _id: id, ...(organizationId !== undefined && { organizationId }) })
    .lean<XapiDestination>()
    .exec();
}

/** Changes a destination; returns it, or null if there is none. */
export function updateDestination(
  db: XapiDestinationDb,
  { id, organizationId }: { id: string; organizationId: string },
  changes: Partial<Omit<XapiDestination, '_id' | 'organizationId' | 'createdAt' | 'rejections'>>,
): Promise<XapiDestination | null> {
  const isResumed = changes.paused === null;
  return db.xapiDestinations
    .findOneAndUpdate(
      { _id: id, organizationId },
      { $set: changes, ...(isResumed && { $unset: { rejections: '' } }) },
      { returnDocument: 'after' },
    )
    .lean<XapiDestination>()
    .exec();
}

/** Deletes a destination; returns false if there was none. */
export async function deleteDestination(
  db: XapiDestinationDb,
  id: string,
  organizationId: string,
): Promise<boolean> {
  const { deletedCount } = await db.xapiDestinations.deleteOne({ _id: id, organizationId });
  return deletedCount === 1;
}

/** Pauses an active destination. Returns false if it is not active. */
export async function pauseDestination(
  db: XapiDestinationDb,
  id: string,
  status: number,
  session?: ClientSession,
): Promise<boolean> {
  const reason = status < 300 ? noIds : String(status);
  const { modifiedCount } = await db.xapiDestinations.updateOne(
    { _id: id, paused: null },
    { $set: { paused: { reason, at: new Date() } } },
    { session },
  );
  return modifiedCount === 1;
}

/** Counts a statement that the LRS rejected. Returns the rejections in a row; null if there is no destination. */
export async function countRejection(
  db: XapiDestinationDb,
  id: string,
  at: Date,
): Promise<{ count: number; since: Date } | null> {
  const counted = await db.xapiDestinations
    .findOneAndUpdate(
      { _id: id },
      { $inc: { 'rejections.count': 1 }, $min: { 'rejections.since': at } },
      { returnDocument: 'after' },
    )
    .lean<XapiDestination>()
    .exec();
  return counted?.rejections ?? null;
}

/** Records that the LRS has accepted a statement. */
export async function clearRejections(db: XapiDestinationDb, id: string): Promise<void> {
  await db.xapiDestinations.updateOne({ _id: id, paused: null }, { $unset: { rejections: '' } });
}

/** Returns the numbers of active destinations, of those that their owners paused, and of others by the reason. */
export async function countDestinations(
  db: XapiDestinationDb,
): Promise<{ active: number; paused: number; rejected: Record<string, number> }> {
  const groups = await db.xapiDestinations
    .aggregate<{ _id: string; count: number }>([
      { $group: { _id: { $ifNull: ['$paused.reason', 'active'] }, count: { $sum: 1 } } },
      { $sort: { _id: 1 } },
    ])
    .exec();
  const of = (reason: string) => groups.find(({ _id }) => _id === reason)?.count ?? 0;
  const rejected = groups.filter(({ _id }) => _id !== 'active' && _id !== 'owner');
  return {
    ...{ active: of('active'), paused: of('owner') },
    rejected: Object.fromEntries(rejected.map(({ _id, count }) => [_id, count])),
  };
}
