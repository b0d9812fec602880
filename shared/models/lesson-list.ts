import type { PipelineStage } from 'mongoose';
import { searchable } from '../platform/searchable.ts';
import type { Database } from './database.ts';
import type { Lesson } from './lesson.ts';
import type { LessonVersion, VersionStatus } from './lesson-version.ts';
import type { ListPosition } from './newest-first.ts';

/** A lesson in a list. */
export interface ListedLesson {
  lesson: Lesson;
  /** "published" if a version is, else "unpublished" if a version was, else "draft". */
  status: VersionStatus;
  /** The last published version that still is published. */
  latest: LessonVersion | null;
  /** The latest version, else the newest one; null for a lesson without versions. */
  shown: LessonVersion | null;
}

export interface LessonPage {
  lessons: ListedLesson[];
  /** The cursor of the next page; null at the end. */
  next: ListPosition | null;
}

/** Lessons scanned for one page, which bounds the cost of filters with few matches. */
const maxScanned = 1000;

/** Lessons whose facts are read at once: most filters find a page among the first. */
const batchSize = 250;

/** The number of listed versions of a lesson, which gets one with each import. */
const maxVersions = 1000;

/** The number of listed versions per lesson in lists of several lessons. */
const maxVersionsPerLesson = 50;

const newestPublished = { publishedAt: -1, versionNumber: -1 } as const;

/**
 * Returns a page of an organization's lessons, newest first. The order never changes, so paging neither repeats nor
 * misses a lesson, despite concurrent imports, publications and deletions. With a status or a title a page before the
 * last may hold fewer than `limit` lessons.
 *
 * @param options.title words that the lesson's title or that of its published version must contain, ignoring case and accents.
 * @param options.after the end of the previous page; null for the first page.
 */
export async function pageOfLessons(
  db: Database,
  organizationId: string,
  options: { status: VersionStatus | null; title?: string; limit: number; after: ListPosition | null },
): Promise<LessonPage> {
  const { status, title = '', limit, after } = options;
  const words = searchable(title).split(/\s+/);
  const isFiltered = status !== null || title !== '';
  const maxCandidates = isFiltered ? maxScanned : limit;
  const candidates = await findCandidates(db, organizationId, after, maxCandidates + 1);
  const ids: string[] = [];
  let scanned = 0;
  while (ids.length < limit && scanned < Math.min(candidates.length, maxCandidates)) {
    const batch = candidates.slice(scanned, Math.min(scanned + batchSize, maxCandidates));
    const known = isFiltered ? await factsOf(db, organizationId, batch) : null;
    for (const candidate of batch) {
      if (ids.length === limit) break;
      scanned += 1;
      const facts = known?.get(candidate._id) ?? { status: 'draft', title: candidate.title };
      if (known === null || ((status === null || facts.status === status) && hasWords(facts.title, words)))
        ids.push(candidate._id);
    }
  }
  const last = candidates[scanned - 1];
  const isEnd = scanned === candidates.length || last === undefined;
  return {
    lessons: await findListed(db, organizationId, ids),
    next: isEnd ? null : { createdAt: last.createdAt, id: last._id },
  };
}

type Candidate = Pick<Lesson, '_id' | 'title' | 'createdAt'>;

/** Returns what a search reads of each lesson. */
function findCandidates(
  db: Database,
  organizationId: string,
  after: ListPosition | null,
  limit: number,
): Promise<Candidate[]> {
  const afterCursor = after !== null && {
    createdAt: { $lte: after.createdAt },
    $or: [{ createdAt: { $lt: after.createdAt } }, { _id: { $gt: after.id } }],
  };
  return (
    db.lessons
      .find({ organizationId, deletedAt: null, ...afterCursor })
      .sort({ createdAt: -1, _id: 1 })
      .limit(limit)
      .select({ title: 1, createdAt: 1 })
      // MongoDB may otherwise sort a small organization's lessons in memory, and keep that plan as they grow.
      .hint({ organizationId: 1, deletedAt: 1, createdAt: -1, _id: 1 })
      .lean<Candidate[]>()
      .exec()
  );
}

/** Returns status and titles of those lessons that are or were published. The others are drafts. */
async function factsOf(
  db: Database,
  organizationId: string,
  lessons: readonly Candidate[],
): Promise<Map<string, { status: VersionStatus; title: string }>> {
  const titles = new Map(lessons.map(({ _id, title }) => [_id, title]));
  // In the order of an index. Per lesson, the last published version comes first.
  const found = await db.lessonVersions
    .aggregate<{ _id: string; status: VersionStatus; title: string }>([
      {
        $match: {
          lessonId: { $in: [...titles.keys()] },
          status: { $in: ['published', 'unpublished'] },
          organizationId,
        },
      },
      { $sort: { lessonId: 1, status: 1, publishedAt: -1, versionNumber: -1 } },
      { $group: { _id: '$lessonId', status: { $first: '$status' }, title: { $first: '$title' } } },
    ])
    .exec();
  return new Map(
    found.map(({ _id, status, title }) => [
      _id,
      { status, title: status === 'published' ? `${titles.get(_id)}\n${title}` : (titles.get(_id) ?? title) },
    ]),
  );
}

/** Returns lessons as in a list, in the order of their ids, without those that are deleted. */
async function findListed(
  db: Database,
  organizationId: string,
  lessonIds: readonly string[],
): Promise<ListedLesson[]> {
  if (lessonIds.length === 0) return [];
  const found = await db.lessons
    .aggregate<FoundLesson>([
      { $match: { _id: { $in: [...lessonIds] }, organizationId, deletedAt: null } },
      someVersions('published', 1, { organizationId, status: 'published' }, newestPublished),
      someVersions('unpublished', 1, { organizationId, status: 'unpublished' }, newestPublished),
      someVersions('newest', 1, { organizationId }, { versionNumber: -1 }),
    ])
    .exec();
  const listed = new Map(found.map((lesson) => [lesson._id, toListed(lesson)]));
  return lessonIds.flatMap((id) => listed.get(id) ?? []);
}

/** Returns a lesson as in a list; null if the organization has no such lesson. */
export async function findListedLesson(
  db: Database,
  organizationId: string,
  lessonId: string,
): Promise<ListedLesson | null> {
  const [found = null] = await findListed(db, organizationId, [lessonId]);
  return found;
}

/** Returns the versions of a lesson, newest first; null if the organization has no such lesson. */
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

/** Returns the version of a lesson with the highest number; null if the organization has no such lesson. */
export async function findNewestVersion(
  db: Database,
  organizationId: string,
  lessonId: string,
): Promise<LessonVersion | null> {
  const [lesson, version] = await Promise.all([
    db.lessons.exists({ _id: lessonId, organizationId, deletedAt: null }),
    db.lessonVersions
      .findOne({ lessonId, organizationId })
      .sort({ versionNumber: -1 })
      .lean<LessonVersion>()
      .exec(),
  ]);
  return lesson === null ? null : version;
}

/** Returns a version of a lesson, published or not; null if the organization has no such lesson or version. */
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
 * Returns the published versions of lessons by lesson, last published first. Lessons that the organization lacks or has
 * deleted are missing.
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

function hasWords(title: string, words: readonly string[]): boolean {
  const text = searchable(title);
  return words.every((word) => text.includes(word));
}

interface FoundLesson extends Lesson {
  published: LessonVersion[];
  unpublished: LessonVersion[];
  newest: LessonVersion[];
}

/**
 * Looks up a few versions of a lesson by an index. The organization is part of the filter, because an interrupted
 * import of another organization may have left a version with the same lesson id.
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
