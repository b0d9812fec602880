import type { Model } from 'mongoose';
import { learnerSubject } from '../tokens/learner-subject.ts';
import type { LearnerSubject } from '../tokens/learner-subject.ts';
import type { EmbedProgressDb } from './embed-progress.ts';
import type { EventDeliveryDb } from './event-delivery.ts';
import type { LtiLearner, LtiProgressDb } from './lti-progress.ts';
import type { LtiScoreDb } from './lti-score.ts';

/*
 * Names every record of a learner. Add each collection with learners' data: the tests of erasures scan all bytes of
 * MongoDB for data that this file misses.
 */

/** The kinds of records of a learner: an erasure removes them, an export contains them, and retention limits them. */
export const recordKinds = ['progress', 'ltiProgress', 'grades', 'deliveries'] as const;
export type RecordKind = (typeof recordKinds)[number];
export type RecordCounts = Record<RecordKind, number>;

export const noRecords: RecordCounts = forAllKinds(() => 0);

/** Returns an object with a value for each kind of record. */
export function forAllKinds<T>(valueOf: (kind: RecordKind) => T): Record<RecordKind, T> {
  return Object.fromEntries(recordKinds.map((kind) => [kind, valueOf(kind)])) as Record<RecordKind, T>;
}

/** Returns whether there are no records of any kind. */
export function areNone(counts: RecordCounts): boolean {
  return Object.values(counts).every((count) => count === 0);
}

export type LearnerRecordsDb = EmbedProgressDb & LtiProgressDb & LtiScoreDb & EventDeliveryDb;

/** The records of one kind, and the index that finds them: MongoDB may otherwise read all records of the organization. */
interface Selection {
  filter: object;
  /** Ends with `_id`, so that it orders the records. */
  hint: Record<string, 1 | -1>;
}

/**
 * Returns the selections that find a learner's records, by kind, without the kinds that such a learner cannot have.
 *
 * @param until selects the records from up to this time; null selects all.
 */
function selectionsOf(learner: LearnerSubject, until: Date | null): Partial<Record<RecordKind, Selection>> {
  const { organizationId } = learner;
  const upTo = (field: string) => (until === null ? {} : { [field]: { $lte: until } });
  const begun =
    until === null ? {} : { $or: [upTo('startedAt'), { startedAt: null, ...upTo('lastActivityAt') }] };
  const ofDeliveries = { organizationId: 1, learnerId: 1, createdAt: -1, _id: 1 } as const;
  if (learner.source === 'embed') {
    const { learnerId } = learner;
    return {
      progress: {
        filter: { organizationId, learnerId, ...begun },
        hint: { organizationId: 1, learnerId: 1, _id: 1 },
      },
      deliveries: {
        filter: { organizationId, learnerId, platformId: null, ...upTo('eventAt') },
        hint: ofDeliveries,
      },
    };
  }
  const { platformId, ltiUserId } = learner;
  const user = { organizationId, platformId, ltiUserId };
  const ofUser = { organizationId: 1, platformId: 1, ltiUserId: 1, _id: 1 } as const;
  return {
    ltiProgress: { filter: { ...user, ...begun }, hint: ofUser },
    grades: { filter: { ...user, ...upTo('createdAt') }, hint: ofUser },
    deliveries: {
      filter: { organizationId, learnerId: ltiUserId, platformId, ...upTo('eventAt') },
      hint: ofDeliveries,
    },
  };
}

function modelsOf(db: LearnerRecordsDb): Record<RecordKind, Model<never>> {
  const { embedProgress, ltiProgress, ltiScores, eventDeliveries } = db;
  return {
    ...{ progress: embedProgress, ltiProgress, grades: ltiScores, deliveries: eventDeliveries },
  } as unknown as Record<RecordKind, Model<never>>;
}

const batchSize = 10_000;

/** Returns how many records of each kind a learner has. */
export async function countRecords(
  db: LearnerRecordsDb,
  learner: LearnerSubject,
  until: Date | null = null,
): Promise<RecordCounts> {
  const models = modelsOf(db);
  const selections = selectionsOf(learner, until);
  const counts = await Promise.all(
    recordKinds.map(async (kind): Promise<[RecordKind, number]> => {
      const selection = selections[kind];
      if (selection === undefined) return [kind, 0];
      const { filter, hint } = selection;
      return [kind, await models[kind].countDocuments(filter, { hint }).exec()];
    }),
  );
  return Object.fromEntries(counts) as RecordCounts;
}

/** Returns the lessons in which a learner has a record. */
export async function lessonsOf(
  db: LearnerRecordsDb,
  learner: LearnerSubject,
  until: Date | null,
): Promise<string[]> {
  const kind = learner.source === 'embed' ? 'progress' : 'ltiProgress';
  const { filter = {}, hint = {} } = selectionsOf(learner, until)[kind] ?? {};
  const { [kind]: model } = modelsOf(db);
  const found = await model.collection.find(filter, { projection: { _id: 0, lessonId: 1 }, hint }).toArray();
  return [...new Set(found.map(({ lessonId }) => String(lessonId)))];
}

/** Removes a learner's records. */
export async function removeRecords(
  db: LearnerRecordsDb,
  learner: LearnerSubject,
  until: Date | null,
): Promise<void> {
  const models = modelsOf(db);
  for (const [kind, { filter, hint }] of Object.entries(selectionsOf(learner, until))) {
    await models[kind as RecordKind].collection.deleteMany(filter, { hint });
  }
}

/** How many records are read at once: about 1 MiB. */
const readBatch: Record<RecordKind, number> = {
  ...{ progress: 1, ltiProgress: 1 },
  ...{ grades: 25, deliveries: 25 },
};

/** Returns the kinds of records that a learner can have. */
export function kindsOf(learner: LearnerSubject): RecordKind[] {
  const selections = selectionsOf(learner, null);
  return recordKinds.filter((kind) => selections[kind] !== undefined);
}

/**
 * Yields a learner's records of a kind, as a function presents them. Cursors expire, so a slow consumer must not hold
 * one.
 *
 * @param present gets the record as MongoDB has it. It should return long texts as Buffers: V8 collects a short-lived
 *   large string soon, but one that waits for a slow consumer moves to the old generation and stays there for long.
 * @param fields the fields to read; all by default.
 */
export async function* readRecords<Presented>(
  db: LearnerRecordsDb,
  learner: LearnerSubject,
  kind: RecordKind,
  present: (record: Record<string, unknown>) => Presented,
  fields: readonly string[] = [],
): AsyncGenerator<Presented> {
  const selection = selectionsOf(learner, null)[kind];
  if (selection === undefined) return;
  const { filter, hint } = selection;
  const sort = 'createdAt' in hint ? newestFirst : byId;
  const projection = Object.fromEntries(fields.map((field) => [field, 1]));
  const limit = readBatch[kind];
  const { [kind]: model } = modelsOf(db);
  for (let after: Position | undefined, isLast = false; !isLast;) {
    const rest: object = after === undefined ? filter : { ...filter, ...following(after, sort) };
    const presented: Presented[] = [];
    // Nothing refers to the records themselves while the consumer is busy.
    for (const record of await model.collection.find(rest, { projection, hint, sort, limit }).toArray()) {
      const { _id, createdAt } = record as unknown as Position;
      after = { _id, ...(createdAt !== undefined && { createdAt }) };
      presented.push(present(record));
    }
    isLast = presented.length < limit;
    yield* presented;
  }
}

/** The place of a record in an order. */
interface Position {
  _id: string;
  createdAt?: Date;
}

const byId = { _id: 1 } as const;
const newestFirst = { createdAt: -1, _id: 1 } as const;

/** Returns a filter for the records after a position. */
function following({ _id, createdAt }: Position, sort: typeof byId | typeof newestFirst): object {
  if (!('createdAt' in sort)) return { _id: { $gt: _id } };
  return {
    createdAt: { $lte: createdAt },
    $or: [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $gt: _id } }],
  };
}

/** Yields the learners of an organization with records of a kind, each perhaps several times. */
const learnersOf: Record<
  RecordKind,
  (db: LearnerRecordsDb, organizationId: string) => AsyncIterable<LearnerSubject>
> = {
  async *progress(db, organizationId) {
    const records = db.embedProgress
      .find({ organizationId }, { _id: 0, learnerId: 1 })
      .hint({ organizationId: 1, learnerId: 1, _id: 1 })
      .lean<{ learnerId: string }>()
      .cursor({ batchSize });
    for await (const { learnerId } of records) yield learnerSubject(organizationId, learnerId, null);
  },
  ltiProgress: (db, organizationId) =>
    usersIn(db.ltiProgress as unknown as Model<LtiLearner>, organizationId),
  grades: (db, organizationId) => usersIn(db.ltiScores as unknown as Model<LtiLearner>, organizationId),
  async *deliveries(db, organizationId) {
    const deliveries = db.eventDeliveries
      .find({ organizationId, learnerId: { $type: 'string' } }, { _id: 0, learnerId: 1, platformId: 1 })
      .lean<{ learnerId: string; platformId?: string | null }>()
      .cursor({ batchSize });
    for await (const { learnerId, platformId } of deliveries)
      yield learnerSubject(organizationId, learnerId, platformId);
  },
};

/** Reads an index only. */
async function* usersIn(model: Model<LtiLearner>, organizationId: string): AsyncGenerator<LearnerSubject> {
  const users = model
    .find({ organizationId }, { _id: 0, platformId: 1, ltiUserId: 1 })
    .hint({ organizationId: 1, platformId: 1, ltiUserId: 1, _id: 1 })
    .lean<Pick<LtiLearner, 'platformId' | 'ltiUserId'>>()
    .cursor({ batchSize });
  for await (const { platformId, ltiUserId } of users)
    yield learnerSubject(organizationId, ltiUserId, platformId);
}

/** Yields every learner of an organization with any record, each perhaps several times. */
export async function* listLearners(
  db: LearnerRecordsDb,
  organizationId: string,
): AsyncGenerator<LearnerSubject> {
  for (const kind of recordKinds) yield* learnersOf[kind](db, organizationId);
}
