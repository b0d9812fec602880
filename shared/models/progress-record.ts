import { Schema } from 'mongoose';
import type { ClientSession, Model, SchemaDefinition } from 'mongoose';
import { inTransaction, isDuplicate } from '../platform/mongo.ts';
import { progressStatuses } from '../progress/state.ts';
import type { FactOrder, FinishedAttempt, ProgressState, StoredAttributes } from '../progress/state.ts';

/**
 * The common fields of progress records. JSON values are stored as text, because BSON would reorder number-like keys,
 * reject some names, and limit nesting to 100 levels.
 */
export interface ProgressRecord extends ProgressState {
  _id: string;
  organizationId: string;
  lessonId: string;
  /** When the learner's data were last erased: older facts are ignored. Null if they never were. */
  erasedAt: Date | null;
  /** When the last `progress.updated` of the record is due; null before the first. */
  updateDueAt: Date | null;
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
  erasedAt: { type: Date, default: null },
  updateDueAt: { type: Date, default: null },
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
export interface SavedWrite extends Pick<ProgressRecord, 'erasedAt' | 'updateDueAt'> {
  /** The `_id` of the record, also before it exists. */
  recordId: string;
  /** Adds rows of the write to outboxes in its transaction; null without rows. */
  addRows: ((session: ClientSession) => Promise<void>) | null;
}

/**
 * Stores the next state of a record in one atomic write if the stored revision is still the previous one (optimistic
 * concurrency). Without a record, stores the first state. Returns false if another write came first: read and merge again.
 *
 * @param key the identifying fields, which have a unique index.
 * @param fields additional fields of the record's kind.
 */
export async function saveState<Record extends ProgressRecord>(
  model: Model<Record>,
  key: Partial<Record>,
  state: ProgressState,
  { recordId, erasedAt, updateDueAt, addRows }: SavedWrite,
  fields: Partial<Record> = {},
): Promise<boolean> {
  const set = { ...state, erasedAt, updateDueAt, ...fields };
  const store = async (options: { session?: ClientSession }) => {
    if (state.revision === 1) {
      await model.insertMany([{ _id: recordId, ...key, ...set }], options);
      return true;
    }
    const which = { ...key, revision: state.revision - 1 };
    return (await model.updateOne(which, { $set: set }, options)).matchedCount === 1;
  };
  try {
    if (addRows === null) return await store({});
    return await inTransaction(model.db, async (session) => {
      await addRows(session);
      const isStored = await store({ session });
      if (!isStored) await session.abortTransaction();
      return isStored;
    });
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}
