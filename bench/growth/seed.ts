import { createHash } from 'node:crypto';
import type { Database } from '../../shared/models/database.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';

type Document = Record<string, unknown>;

/** Documents per bulk insert. */
const batchSize = 5_000;

/** The time of all seeded documents. */
const seededAt = new Date('2026-01-15T09:00:00.000Z');

/** Returns a UUID that depends on the text alone. */
export function seededId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** The lesson of a number, with its version. */
export const lessonOf = (number: number) => ({
  lessonId: seededId(`lesson ${number}`),
  versionId: seededId(`version ${number}`),
});

/** The learner of a record, and the number of its lesson. */
export const learnerOf = (record: number, lessons: number) => ({
  learnerId: `learner-${record}`,
  lesson: record % lessons,
});

/** Copies an organization with its keys from another database, and a published lesson `lessons` times. */
export async function seedLessons(
  from: Database,
  to: Database,
  { version, lessons }: { version: LessonVersion; lessons: number },
): Promise<void> {
  for (const name of ['organizations', 'apiKeys', 'widgetReleases'] as const) {
    const documents = await from[name].collection.find({}).toArray();
    if (documents.length > 0) await to[name].collection.insertMany(documents);
  }
  const original = { lessonId: version.lessonId, versionId: version._id };
  const lesson = await from.lessons.collection.findOne<Document>({ _id: original.lessonId as never });
  const stored = await from.lessonVersions.collection.findOne<Document>({ _id: original.versionId as never });
  const parts = await from.lessonContents.collection
    .find<Document>({ versionId: original.versionId }, { projection: { _id: 0 } })
    .toArray();
  for (let start = 0; start < lessons; start += batchSize) {
    const numbers = Array.from({ length: Math.min(batchSize, lessons - start) }, (_, index) => start + index);
    const copies = (copy: (ids: ReturnType<typeof lessonOf>, number: number) => Document[]) =>
      numbers.flatMap((number) => copy(lessonOf(number), number)) as never[];
    await to.lessons.collection.insertMany(
      copies(({ lessonId }, number) => {
        const createdAt = new Date(seededAt.getTime() + number * 1000);
        return [{ ...lesson, _id: lessonId, slug: `lesson-${number}`, createdAt, updatedAt: createdAt }];
      }),
    );
    await to.lessonVersions.collection.insertMany(
      copies(({ lessonId, versionId }) => [{ ...stored, _id: versionId, lessonId }]),
    );
    await to.lessonContents.collection.insertMany(
      copies(({ versionId }) => parts.map((part) => ({ ...part, versionId }))),
    );
  }
}

/** Inserts records of learners half-way through their lessons, spread evenly over the lessons. */
export async function seedProgress(
  db: Database,
  { version, lessons, records }: { version: LessonVersion; lessons: number; records: number },
): Promise<void> {
  for (let start = 0; start < records; start += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, records - start) }, (_, index) => {
      const record = start + index;
      const { learnerId, lesson } = learnerOf(record, lessons);
      return { _id: seededId(`record ${record}`), learnerId, ...recordOf(version, lessonOf(lesson), record) };
    });
    await db.embedProgress.collection.insertMany(batch as never[], { ordered: false });
  }
}

function recordOf(
  { organizationId, totalSteps }: LessonVersion,
  ids: ReturnType<typeof lessonOf>,
  record: number,
): Document {
  const items = Array.from({ length: totalSteps / 2 }, (_, number) => ({
    widgetId: `MultipleChoice-${number}`,
    widgetType: 'MultipleChoice',
    stepId: ids.versionId,
    answer: `{"selected":["choice-${(record + number) % 4}"]}`,
    score: 1,
    maxScore: 1,
    tries: 1,
    answeredAt: seededAt,
    writeId: 'seeded',
  }));
  const order = { at: seededAt, writeId: 'seeded' };
  return {
    organizationId,
    ...ids,
    revision: 1,
    attempt: 1,
    recentWriteIds: [],
    status: 'in_progress',
    score: items.length,
    maxScore: totalSteps,
    sectionIndex: 0,
    stepIndex: items.length,
    stepId: ids.versionId,
    totalSteps,
    progressData: '{"visited":[0,1,2],"bookmarks":{"1":true}}',
    ...{ positionOrder: order, progressDataOrder: order, erasedAt: null, stepTimes: [] },
    variables: [{ name: 'tries', value: '3', ...order }],
    items,
    userAttributes: { text: '{"group":"b"}', issuedAt: 0 },
    startedAt: seededAt,
    completedAt: null,
    lastActivityAt: seededAt,
    finished: null,
  };
}
