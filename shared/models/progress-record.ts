import { Schema } from 'mongoose';
import type { Model, SchemaDefinition } from 'mongoose';
import { addEvent } from '../events/pending-events.ts';
import type { RecordedEvent } from '../events/progress-events.ts';
import { isDuplicate } from '../platform/mongo.ts';
import { itemsFromJson, itemsToJson, progressStatuses } from '../progress/state.ts';
import type { FinishedAttempt, ProgressState } from '../progress/state.ts';

/**
 * The common fields of progress records. JSON values are stored as text, because BSON would reorder number-like keys,
 * reject some names, and limit nesting to 100 levels.
 */
export interface ProgressRecord extends Omit<ProgressState, 'items' | 'finished' | 'attempt'> {
  _id: string;
  organizationId: string;
  lessonId: string;
  items: string | null;
  /** Missing in older records, like `attempt`. */
  finished?: FinishedAttempt | null;
  attempt?: number;
  /** Idempotency keys of the last writes, so that a write whose response was lost can be repeated. */
  recentWriteIds: string[];
}

/** Writes are repeated within moments, and other tabs write a few times in between. */
const keptWriteIds = 20;

const finishedSchema = new Schema<FinishedAttempt>(
  {
    at: { type: Date, required: true },
    score: { type: Number, default: null },
    maxScore: { type: Number, default: null },
    isCurrent: { type: Boolean, required: true },
  },
  { _id: false, strict: 'throw' },
);

export const progressFields: SchemaDefinition<ProgressRecord> = {
  organizationId: { type: String, required: true },
  lessonId: { type: String, required: true },
  versionId: { type: String, required: true },
  revision: { type: Number, required: true },
  attempt: { type: Number, default: 1 },
  recentWriteIds: { type: [String], default: [] },
  status: { type: String, required: true, enum: progressStatuses },
  score: { type: Number, default: null },
  maxScore: { type: Number, default: null },
  sectionIndex: { type: Number, required: true },
  stepIndex: { type: Number, required: true },
  stepId: { type: String, default: null },
  totalSteps: { type: Number, required: true },
  progressData: { type: String, default: null },
  variableState: { type: String, default: null },
  items: { type: String, default: null },
  startedAt: { type: Date, default: null },
  completedAt: { type: Date, default: null },
  lastActivityAt: { type: Date, required: true },
  finished: { type: finishedSchema, default: null },
};

/** JSON texts up to this size are read with the record; larger ones need a second query. */
const smallTextBytes = 64 * 1024;

const textFields = ['progressData', 'variableState', 'items'] as const;

const textBytes = {
  $add: textFields.map((field) => ({ $strLenBytes: { $ifNull: [`$${field}`, ''] } })),
};

/**
 * A projection for a record with the size of its JSON texts, and without these texts if they are large, so that
 * requests that need only the revision stay cheap.
 */
export const headProjection: Record<string, unknown> = {
  ...Object.fromEntries(Object.keys(progressFields).map((field) => [field, 1])),
  ...Object.fromEntries(
    textFields.map((field) => [
      field,
      { $cond: [{ $gt: [textBytes, smallTextBytes] }, '$$REMOVE', `$${field}`] },
    ]),
  ),
  textBytes,
};

/** A record as read with {@link headProjection}. */
export type RecordHead<Record extends ProgressRecord> = Record & { textBytes: number };

/** Returns whether the JSON texts of a record were too large to be read with its head. */
export function isHeadOnly({ textBytes }: Pick<RecordHead<ProgressRecord>, 'textBytes'>): boolean {
  return textBytes > smallTextBytes;
}

/** Returns the state of a stored record, for the rules of shared/progress. */
export function stateOf(record: ProgressRecord): ProgressState {
  const { versionId, revision, status, score, maxScore, sectionIndex, stepIndex, stepId } = record;
  const { totalSteps, progressData, variableState, items, startedAt, completedAt, lastActivityAt } = record;
  const { finished, attempt } = record;
  return {
    versionId,
    revision,
    attempt: attempt ?? 1,
    status,
    score,
    maxScore,
    sectionIndex,
    stepIndex,
    stepId,
    totalSteps,
    progressData,
    variableState,
    items: items === null ? null : itemsFromJson(items),
    startedAt,
    completedAt,
    lastActivityAt,
    finished: finished ?? null,
  };
}

/** What a write stores beside the state. */
export interface SavedWrite {
  writeId: string | undefined;
  /** For the webhooks that subscribe to it; null if none does. */
  recorded?: RecordedEvent | null;
}

/**
 * Stores the next state of a record in one atomic write, if its revision is still the one before (optimistic
 * concurrency), or the first state if there is no record yet. Returns false if another write came first.
 *
 * @param key the identifying fields, which have a unique index.
 * @param fields additional fields of the record's kind.
 */
export async function saveState<Record extends ProgressRecord>(
  model: Model<Record>,
  key: Partial<Record>,
  state: ProgressState,
  { writeId, recorded = null }: SavedWrite,
  fields: Partial<Record> = {},
): Promise<boolean> {
  const set = { ...state, items: state.items === null ? null : itemsToJson(state.items), ...fields };
  const recentWriteIds = writeId === undefined ? [] : [writeId];
  if (state.revision === 1) {
    try {
      await model.create({ ...key, ...set, recentWriteIds, ...(recorded !== null && firstEvent(recorded)) });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
  const { $push, ...due } = recorded === null ? {} : addEvent(recorded.event, recorded.dueAt);
  const { matchedCount } = await model.updateOne(
    { ...key, revision: state.revision - 1 },
    {
      $set: set,
      $push: { recentWriteIds: { $each: recentWriteIds, $slice: -keptWriteIds }, ...$push },
      ...due,
    },
  );
  return matchedCount === 1;
}

function firstEvent({ event, dueAt }: RecordedEvent) {
  return { eventsDueAt: dueAt, ...(event !== null && { events: [event] }) };
}
