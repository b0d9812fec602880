import type { Model, QueryFilter } from 'mongoose';

/** A position in a list: after the entry with this time and id (keyset pagination). */
export interface ListPosition {
  createdAt: Date;
  id: string;
}

export interface ListPage<Entry> {
  entries: Entry[];
  /** The position of the next page; null at the end. */
  next: ListPosition | null;
}

/**
 * Returns a page of documents, newest first. The order never changes, so paging neither repeats nor misses one. It needs
 * an index of the filter's fields with `createdAt: -1, _id: 1`.
 */
export async function newestFirst<Entry extends { _id: string; createdAt: Date }>(
  model: Model<Entry>,
  filter: QueryFilter<Entry>,
  { limit, after }: { limit: number; after: ListPosition | null },
): Promise<ListPage<Entry>> {
  const from = after && {
    createdAt: { $lte: after.createdAt },
    $or: [{ createdAt: { $lt: after.createdAt } }, { createdAt: after.createdAt, _id: { $gt: after.id } }],
  };
  const found = await model
    .find({ ...filter, ...from } as QueryFilter<Entry>)
    .sort({ createdAt: -1, _id: 1 })
    .limit(limit + 1)
    .lean<Entry[]>()
    .exec();
  const entries = found.slice(0, limit);
  const last = found.length > limit ? entries.at(-1) : undefined;
  return { entries, next: last === undefined ? null : { createdAt: last.createdAt, id: last._id } };
}
