import type { PipelineStage } from 'mongoose';
import type { Database } from './database.ts';
import type { Lesson } from './lesson.ts';
import type { LessonVersion, VersionStatus } from './lesson-version.ts';

/** A lesson in a list. */
export interface ListedLesson {
  lesson: Lesson;
  /** Published when a version is; else unpublished when one was; else a draft. */
  status: VersionStatus;
  /** The version that was published last and still is. */
  latest: LessonVersion | null;
  /** The one above, else the newest; null for a lesson without any. */
  shown: LessonVersion | null;
}

/** A place in the list of lessons: behind the lesson with this id and time. */
export interface ListPosition {
  createdAt: Date;
  id: string;
}

export interface LessonPage {
  lessons: ListedLesson[];
  /** Where the next page begins; null at the end. */
  next: ListPosition | null;
}

/** Lessons looked at for one page: a filter that fits few of them must not cost more. */
const maxScanned = 1000;

/** A lesson has one for each import; older ones are not listed. */
const maxVersions = 1000;

/** Of each of several lessons; older ones are not listed. */
const maxVersionsPerLesson = 50;

const newestPublished = { publishedAt: -1, versionNumber: -1 } as const;

/**
 * A page of an organization's lessons, the newest first. The order never changes, so that through pages nothing is
 * seen twice and nothing that stays is missed, whatever is imported, published or deleted meanwhile. With a status or
 * a title a page may hold fewer than `limit` before the end.
 *
 * @param options.title words that have to be in the title of the version that is shown, whatever their case or accents.
 * @param options.after where the page before it ended; null for the first page.
 */
export async function pageOfLessons(
  db: Database,
  organizationId: string,
  options: { status: VersionStatus | null; title?: string; limit: number; after: ListPosition | null },
): Promise<LessonPage> {
  const { status, title = '', limit, after } = options;
  const words = searchable(title).split(/\s+/);
  const lessons: ListedLesson[] = [];
  let next: ListPosition | null = null;
  let lookedAt = 0;
  // The database computes what is read, batch by batch: mostly little more than the page.
  const cursor = db.lessons
    .aggregate(pagePipeline(organizationId, after))
    .cursor<FoundLesson>({ batchSize: limit + 1 });
  try {
    for await (const found of cursor) {
      if (lessons.length === limit || lookedAt === maxScanned) return { lessons, next };
      lookedAt += 1;
      next = { createdAt: found.createdAt, id: found._id };
      const listed = toListed(found);
      const isOfStatus = status === null || listed.status === status;
      if (isOfStatus && hasWords(listed, words)) lessons.push(listed);
    }
    return { lessons, next: null };
  } finally {
    await cursor.close();
  }
}

/** The versions of a lesson, the newest first; null when the organization has no such lesson. */
export async function listLessonVersions(
  db: Database,
  organizationId: string,
  lessonId: string,
): Promise<LessonVersion[] | null> {
  const [lesson, versions] = await Promise.all([
    db.lessons.exists({ _id: lessonId, organizationId, deletedAt: null }),
    db.lessonVersions
      .find({ lessonId, organizationId })
      .sort({ versionNumber: -1 })
      .limit(maxVersions)
      .lean<LessonVersion[]>()
      .exec(),
  ]);
  return lesson === null ? null : versions;
}

/** A version of a lesson, published or not; null when the organization has no such lesson or version. */
export async function findLessonVersion(
  db: Database,
  organizationId: string,
  lessonId: string,
  versionId: string,
): Promise<LessonVersion | null> {
  const [lesson, version] = await Promise.all([
    db.lessons.exists({ _id: lessonId, organizationId, deletedAt: null }),
    db.lessonVersions.findOne({ _id: versionId, lessonId, organizationId }).lean<LessonVersion>().exec(),
  ]);
  return lesson === null ? null : version;
}

/**
 * The published versions of some lessons, those of each with the last published first. Lessons that the organization
 * does not have, or has deleted, have none.
 */
export async function publishedVersionsOf(
  db: Database,
  organizationId: string,
  lessonIds: readonly string[],
): Promise<Map<string, LessonVersion[]>> {
  const found = await db.lessons.aggregate<{ _id: string; versions: LessonVersion[] }>([
    { $match: { _id: { $in: [...lessonIds] }, organizationId, deletedAt: null } },
    someVersions('versions', maxVersionsPerLesson, { organizationId, status: 'published' }, newestPublished),
  ]);
  return new Map(found.map(({ _id, versions }) => [_id, versions]));
}

function hasWords({ shown, lesson }: ListedLesson, words: readonly string[]): boolean {
  const title = searchable(shown?.title ?? lesson.title);
  return words.every((word) => title.includes(word));
}

/** As it is compared: who searches for "resume" finds "Résumé". */
function searchable(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}

interface FoundLesson extends Lesson {
  published: LessonVersion[];
  unpublished: LessonVersion[];
  newest: LessonVersion[];
}

function pagePipeline(organizationId: string, after: ListPosition | null): PipelineStage[] {
  const behind = after !== null && {
    createdAt: { $lte: after.createdAt },
    $or: [{ createdAt: { $lt: after.createdAt } }, { _id: { $gt: after.id } }],
  };
  return [
    { $match: { organizationId, deletedAt: null, ...behind } },
    { $sort: { createdAt: -1, _id: 1 } },
    { $limit: maxScanned + 1 },
    someVersions('published', 1, { organizationId, status: 'published' }, newestPublished),
    someVersions('unpublished', 1, { organizationId, status: 'unpublished' }, newestPublished),
    someVersions('newest', 1, { organizationId }, { versionNumber: -1 }),
  ];
}

/**
 * Each a few entries of an index, however many versions a lesson has. An import into another organization that ended
 * half-way may have left a version of the same lesson id.
 */
function someVersions(
  as: string,
  limit: number,
  filter: { organizationId: string; status?: VersionStatus },
  order: Record<string, -1>,
): PipelineStage.Lookup {
  return {
    $lookup: {
      from: 'lessonVersions',
      localField: '_id',
      foreignField: 'lessonId',
      pipeline: [{ $match: filter }, { $sort: order }, { $limit: limit }],
      as,
    },
  };
}

function toListed({ published, unpublished, newest, ...lesson }: FoundLesson): ListedLesson {
  const [latest = null] = published;
  const [first = null] = newest;
  const otherwise = unpublished.length > 0 ? 'unpublished' : 'draft';
  return { lesson, status: latest === null ? otherwise : 'published', latest, shown: latest ?? first };
}
