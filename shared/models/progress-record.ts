import { Schema } from 'mongoose';
import type { Model, SchemaDefinition } from 'mongoose';
import { addEvent, removePublished } from '../events/pending-events.ts';
import type { ProgressEvent, RecordedEvent } from '../events/progress-events.ts';
import { isDuplicate } from '../platform/mongo.ts';
import { progressStatuses } from '../progress/state.ts';
import type { FactOrder, FinishedAttempt, ProgressState, StoredAttributes } from '../progress/state.ts';
import { addToBacklog, hasBacklogRoom } from './event-backlog.ts';
import type { EventBacklogDb, EventOwner } from './event-backlog.ts';

/**
 * The common fields of progress records. JSON values are stored as text, because BSON would reorder number-like keys,
 * reject some names, and limit nesting to 100 levels.
 */
export interface ProgressRecord extends ProgressState {
  _id: string;
  organizationId: string;
  lessonId: string;
  /** Older facts are ignored: the learner's data were erased then. Null if they never were. */
  factsAfter: Date | null;
}

const subdocument = { _id: false, strict: 'throw' } as const;

const orderSchema = new Schema<FactOrder>(
  { at: { type: Date, required: true }, writeId: { type: String, required: true } },
  subdocument,
);

const attributesSchema = new Schema<StoredAttributes>(
  { text: { type: String, required: true }, issuedAt: { type: Number, required: true } },
  subdocument,
);

const finishedSchema = new Schema<FinishedAttempt>(
  {
    at: { type: Date, required: true },
    score: { type: Number, default: null },
    maxScore: { type: Number, default: null },
    isCurrent: { type: Boolean, required: true },
  },
  subdocument,
);

/** Mongoose does not check variables and items: that would take 0.3 seconds for 1,000 answers. They come from `mergeFacts`. */
export const progressFields: SchemaDefinition<ProgressRecord> = {
  organizationId: { type: String, required: true },
  lessonId: { type: String, required: true },
  versionId: { type: String, required: true },
  revision: { type: Number, required: true },
  attempt: { type: Number, required: true },
  status: { type: String, required: true, enum: progressStatuses },
  score: { type: Number, default: null },
  maxScore: { type: Number, default: null },
  sectionIndex: { type: Number, required: true },
  stepIndex: { type: Number, required: true },
  stepId: { type: String, default: null },
  positionOrder: { type: orderSchema, default: null },
  totalSteps: { type: Number, required: true },
  progressData: { type: String, default: null },
  progressDataOrder: { type: orderSchema, default: null },
  variables: { type: Schema.Types.Mixed, default: [] },
  items: { type: Schema.Types.Mixed, default: [] },
  stepTimes: { type: [Number], required: true },
  userAttributes: { type: attributesSchema, default: null },
  startedAt: { type: Date, default: null },
  completedAt: { type: Date, default: null },
  lastActivityAt: { type: Date, required: true },
  finished: { type: finishedSchema, default: null },
  recentWriteIds: { type: [String], default: [] },
  factsAfter: { type: Date, default: null },
};

/**
 * The index of the list of a lesson's learners. Its queries name every status, and MongoDB merges the sorted statuses.
 * The index therefore serves lists with and without a status. Its last field filters index entries before documents are
 * read.
 */
export const learnerListIndex = {
  organizationId: 1,
  lessonId: 1,
  status: 1,
  lastActivityAt: 1,
  _id: 1,
  versionId: 1,
} as const;

/** Statistics read a version's records in this order, in which a learner's write moves none. */
export const statisticsIndex = { organizationId: 1, lessonId: 1, versionId: 1, _id: 1 } as const;

/** Returns the state of a stored record, for the rules of shared/progress. */
export function stateOf(record: ProgressRecord): ProgressState {
  const { versionId, revision, attempt, status, score, maxScore, startedAt, completedAt, finished } = record;
  const { sectionIndex, stepIndex, stepId, positionOrder, totalSteps, stepTimes, lastActivityAt } = record;
  const { progressData, progressDataOrder, variables, items, userAttributes, recentWriteIds } = record;
  return {
    ...{ versionId, revision, attempt, status, score, maxScore, startedAt, completedAt, finished },
    ...{ sectionIndex, stepIndex, stepId, positionOrder, totalSteps, stepTimes, lastActivityAt },
    ...{ progressData, progressDataOrder, variables, items, userAttributes, recentWriteIds },
  };
}

/** What a write stores beside the state. */
export interface SavedWrite {
  factsAfter: Date | null;
  /** The event for subscribed webhooks; null if none subscribes to it. */
  recorded: RecordedEvent | null;
}

/** The fields of an {@link EventOwner}. */
const ownerFields = {
  ...{ organizationId: 1, lessonId: 1, learnerId: 1, ltiUserId: 1, platformId: 1, contextId: 1 },
} as const;

/**
 * Stores the next state of a record in one atomic write if the stored revision is still the previous one (optimistic
 * concurrency). Without a record, stores the first state. Returns false if another write came first: read and merge again.
 *
 * @param key the identifying fields, which have a unique index.
 * @param fields additional fields of the record's kind.
 */
export async function saveState<Record extends ProgressRecord>(
  db: EventBacklogDb,
  model: Model<Record>,
  key: Partial<Record>,
  state: ProgressState,
  { factsAfter, recorded }: SavedWrite,
  fields: Partial<Record> = {},
): Promise<boolean> {
  const set = { ...state, factsAfter, ...fields };
  if (state.revision === 1) {
    try {
      await model.create({ ...key, ...set, ...(recorded !== null && firstEvent(recorded)) });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
  const which = { ...key, revision: state.revision - 1 };
  const save = async (filter: object, event: object = {}) => {
    const change = { $set: set, ...event };
    return (await model.updateOne({ ...which, ...filter }, change)).matchedCount === 1;
  };
  if (recorded === null) return save({});
  const { $push, ...due } = addEvent(recorded.event, recorded.dueAt);
  if ($push === undefined) return save({}, due);
  if (await save(hasRoom, { $push, ...due })) return true;
  // Another write came first, or the record is full.
  if (!(await moveEvents(db, model, which))) return false;
  return save({}, { $push: { events: { ...$push.events, $slice: -maxPendingEvents } }, ...due });
}

/**
 * The maximum number of events in a record. A worker publishes them within a second. Without a worker, or above this
 * limit, they move to the backlog.
 */
const maxPendingEvents = 20;
const lastPending = `events.${maxPendingEvents - 1}`;
const hasRoom = { [lastPending]: { $exists: false } };

/**
 * Moves the events of a full record to the backlog. They stay if the organization has too many there, and the next write
 * then drops the oldest one. Returns false if there is no such record.
 */
async function moveEvents<Record extends ProgressRecord>(
  db: EventBacklogDb,
  model: Model<Record>,
  which: object,
): Promise<boolean> {
  const full = await model
    .findOne({ ...which, [lastPending]: { $exists: true } }, { ...ownerFields, events: 1 })
    .lean()
    .exec();
  if (full === null) return false;
  const { events, ...owner } = full as unknown as EventOwner & { events: ProgressEvent[] };
  if (await hasBacklogRoom(db, owner.organizationId)) {
    await addToBacklog(db, [{ owner, events }]);
    await removePublished(model, [{ _id: owner._id, ids: events.map(({ id }) => id) }]);
  }
  return true;
}

function firstEvent({ event, dueAt }: RecordedEvent) {
  return { eventsDueAt: dueAt, ...(event !== null && { events: [event] }) };
}
