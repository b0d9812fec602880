import { randomUUID } from 'node:crypto';
import type { Database } from '../../shared/models/database.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import type { LtiProgress } from '../../shared/models/lti-progress.ts';
import type { StoredItem } from '../../shared/progress/state.ts';

export const startOfTests = Date.parse('2026-03-01T10:00:00.000Z');

type Fields = Partial<EmbedProgress & LtiProgress>;

/** Stores records of learners, in the state that `fields` returns; an `ltiUserId` makes one of an LTI user. */
export async function storeLearners(
  db: Pick<Database, 'embedProgress' | 'ltiProgress'>,
  version: Pick<LessonVersion, 'organizationId' | 'lessonId' | '_id'>,
  learners: readonly Fields[],
): Promise<void> {
  const records = learners.map((fields, index) => ({
    _id: randomUUID(),
    organizationId: version.organizationId,
    lessonId: version.lessonId,
    versionId: version._id,
    ...{ revision: 1, attempt: 1, stepTimes: [] },
    status: 'in_progress',
    ...{ sectionIndex: 0, stepIndex: 0, stepId: 's1', totalSteps: 3 },
    startedAt: new Date(startOfTests),
    lastActivityAt: new Date(startOfTests + index),
    ...(fields.ltiUserId === undefined
      ? { learnerId: `learner-${index}` }
      : { platformId: randomUUID(), contextId: null, courseId: randomUUID() }),
    ...fields,
  }));
  await db.embedProgress.insertMany(records.filter((record) => !('ltiUserId' in record)));
  await db.ltiProgress.insertMany(records.filter((record) => 'ltiUserId' in record));
}

/** An answer to a question of {@link publishLesson}. */
export function answerTo(widgetId: string, answer: unknown, fields: Partial<StoredItem> = {}): StoredItem {
  return {
    widgetId,
    widgetType: 'MultipleChoice',
    stepId: 's2',
    answer: JSON.stringify(answer),
    ...{ score: null, maxScore: null, tries: 1, answeredAt: new Date(startOfTests), writeId: 'write' },
    ...fields,
  };
}
