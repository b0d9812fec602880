import type { Model } from 'mongoose';
import { progressStatuses } from '../progress/state.ts';
import type { ProgressStatus, StoredItem } from '../progress/state.ts';
import type { EmbedProgress } from './embed-progress.ts';
import { ltiLearnerListIndex } from './lti-progress.ts';
import type { LtiProgress } from './lti-progress.ts';
import { learnerListIndex } from './progress-record.ts';
import type { ProgressRecord } from './progress-record.ts';

/** Where a learner's record comes from: a frame with an embed token, or a launch by a platform. */
export const learnerSources = ['embed', 'lti'] as const;

export type LearnerSource = (typeof learnerSources)[number];

/** Learners of a lesson; undefined fields select all. */
export interface LearnerSelection {
  organizationId: string;
  lessonId: string;
  source?: LearnerSource | undefined;
  status?: ProgressStatus | undefined;
  /** The version of the learner's last write. */
  versionId?: string | undefined;
  /** Selects LTI users only. */
  platformId?: string | undefined;
  /** The earliest last activity. */
  since?: Date | undefined;
}

/** `oldest` first lists each learner who stays, also one who is active meanwhile. */
export const learnerOrders = ['oldest', 'newest'] as const;

export type LearnerOrder = (typeof learnerOrders)[number];

/** A learner's place in the list. Ids are unique in all sources. */
export interface LearnerPosition {
  lastActivityAt: Date;
  id: string;
}

const sharedFields = [
  ...['_id', 'versionId', 'status', 'score', 'maxScore'],
  ...['startedAt', 'completedAt', 'lastActivityAt'],
] as const;

type SharedFields = Pick<
  ProgressRecord,
  '_id' | 'versionId' | 'status' | 'score' | 'maxScore' | 'startedAt' | 'completedAt' | 'lastActivityAt'
>;

/** A learner's record without state, with its answers if they were selected. */
export type ListedLearner = SharedFields & { items?: StoredItem[] } & (
    | ({ source: 'embed' } & Pick<EmbedProgress, 'learnerId'>)
    | ({ source: 'lti' } & Pick<LtiProgress, 'ltiUserId' | 'platformId' | 'contextId'>)
  );

export interface LearnerListDb {
  embedProgress: Model<EmbedProgress>;
  ltiProgress: Model<LtiProgress>;
}

const idFields = { embed: ['learnerId'], lti: ['ltiUserId', 'platformId', 'contextId'] } as const;

const indexes = { embed: learnerListIndex, lti: ltiLearnerListIndex };

/** Answers up to this size are read with their page; larger ones one by one, so that a page fits into memory. */
const smallItemsBytes = 16 * 1024;

const itemsFields = {
  items: {
    $cond: [{ $gt: [{ $bsonSize: { items: '$items' } }, smallItemsBytes] }, '$$REMOVE', '$items'],
  },
};

interface ListOptions {
  order: LearnerOrder;
  /** The last learner of the previous page. */
  after: LearnerPosition | null;
  /** How many records a query reads. */
  batch: number;
  withItems?: boolean;
}

/**
 * Yields the learners of a lesson, by last activity. No query stays open for long between two learners, so a consumer may
 * be slow. A learner who is active meanwhile moves to the end: with `oldest` first they may be listed twice, and none is
 * missed.
 */
export async function* learnersOf(
  db: LearnerListDb,
  selection: LearnerSelection,
  options: ListOptions,
): AsyncGenerator<ListedLearner> {
  const { source, platformId } = selection;
  const sources = learnerSources.filter(
    (one) => (source ?? one) === one && (platformId === undefined || one === 'lti'),
  );
  const [first, second] = sources.map((one) => learnersFrom(db, one, selection, options));
  if (first === undefined) return;
  if (second === undefined) yield* first;
  else yield* merged(first, second, options.order);
}

async function* merged(
  first: AsyncGenerator<ListedLearner, void>,
  second: AsyncGenerator<ListedLearner, void>,
  order: LearnerOrder,
): AsyncGenerator<ListedLearner> {
  let [one, other] = await Promise.all([first.next(), second.next()]);
  while (one.done !== true || other.done !== true) {
    if (other.done === true || (one.done !== true && comesFirst(one.value, other.value, order))) {
      yield one.value as ListedLearner;
      one = await first.next();
    } else {
      yield other.value;
      other = await second.next();
    }
  }
}

function comesFirst(one: ListedLearner, other: ListedLearner, order: LearnerOrder): boolean {
  const difference = one.lastActivityAt.getTime() - other.lastActivityAt.getTime();
  const isEarlier = difference === 0 ? one._id < other._id : difference < 0;
  return isEarlier === (order === 'oldest');
}

async function* learnersFrom(
  db: LearnerListDb,
  source: LearnerSource,
  selection: LearnerSelection,
  options: ListOptions,
): AsyncGenerator<ListedLearner, void> {
  const read = async (after: LearnerPosition | null) =>
    findPage(db, source, selection, { ...options, after });
  let page = await read(options.after);
  for (let isFirst = true; ; isFirst = false) {
    const last = page.length < options.batch ? undefined : page.at(-1);
    const after = last && { lastActivityAt: last.lastActivityAt, id: last._id };
    // MongoDB reads the next page while the consumer formats this one. Many consumers need only the first.
    const next = after && !isFirst ? read(after) : undefined;
    // If the consumer stops, no code awaits this page, so its error is ignored.
    next?.catch(() => undefined);
    for (const learner of page) {
      const isLarge = options.withItems === true && learner.items === undefined;
      yield isLarge ? { ...learner, items: await findItems(db, learner) } : learner;
    }
    if (after === undefined) return;
    page = await (next ?? read(after));
  }
}

async function findPage(
  db: LearnerListDb,
  source: LearnerSource,
  { organizationId, lessonId, status, versionId, platformId, since }: LearnerSelection,
  { order, after, batch, withItems = false }: ListOptions,
): Promise<ListedLearner[]> {
  const direction = order === 'oldest' ? 1 : -1;
  const [within, beyond] = order === 'oldest' ? ['$gte', '$gt'] : ['$lte', '$lt'];
  const filter = {
    ...{ organizationId, lessonId, status: { $in: status === undefined ? [...progressStatuses] : [status] } },
    ...(versionId !== undefined && { versionId }),
    ...(platformId !== undefined && { platformId }),
    $and: [
      ...(since === undefined ? [] : [{ lastActivityAt: { $gte: since } }]),
      ...(after === null
        ? []
        : [
            { lastActivityAt: { [within]: after.lastActivityAt } },
            {
              $or: [{ lastActivityAt: { [beyond]: after.lastActivityAt } }, { _id: { [beyond]: after.id } }],
            },
          ]),
      {},
    ],
  };
  const fields = [...sharedFields, ...idFields[source]].map((field) => [field, 1]);
  const records = await modelOf(db, source)
    .find(filter, { ...Object.fromEntries(fields), ...(withItems && itemsFields) })
    // MongoDB may otherwise sort the learners of a small lesson in memory, and keep that plan as it grows.
    .hint(indexes[source])
    .sort({ lastActivityAt: direction, _id: direction })
    .limit(batch)
    .lean<ListedLearner[]>()
    .exec();
  return records.map((record) => ({ ...record, source }) as ListedLearner);
}

async function findItems(db: LearnerListDb, { _id, source }: ListedLearner): Promise<StoredItem[]> {
  const record = await modelOf(db, source)
    .findById(_id, { items: 1 })
    .lean<Pick<ProgressRecord, 'items'>>()
    .exec();
  return record?.items ?? [];
}

function modelOf(db: LearnerListDb, source: LearnerSource): Model<ProgressRecord> {
  return (source === 'embed' ? db.embedProgress : db.ltiProgress) as unknown as Model<ProgressRecord>;
}
