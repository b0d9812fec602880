import { randomUUID } from 'node:crypto';
import type { Model } from 'mongoose';
import type { Database } from '../models/database.ts';
import type { ProgressRecord } from '../models/progress-record.ts';
import type { FactOrder, StoredItem } from '../progress/state.ts';
import type { LearnerSubject } from '../tokens/learner-subject.ts';

/**
 * The number of records that a lesson needs so that an anonymous one may stay (k-anonymity). With fewer, its points may
 * identify the learner.
 */
export const minRecords = 5;

const dayMs = 24 * 3600_000;

/** The course of anonymous records. */
const nilCourseId = '00000000-0000-0000-0000-000000000000';

/**
 * Makes a learner's records anonymous. They keep points, status and position, get a random id, and lose everything that
 * learners or integrators wrote (answers, state, attributes), the course, the time on steps, and the time of day.
 * Records of lessons with few learners stay unchanged, for the removal that follows.
 */
export async function anonymizeRecords(db: Database, learner: LearnerSubject): Promise<void> {
  const { organizationId } = learner;
  if (learner.source === 'embed') {
    const { learnerId } = learner;
    await anonymizeIn(db, db.embedProgress, { organizationId, learnerId }, (id) => ({
      ...{ learnerId: id, userAttributes: null },
    }));
  } else {
    const { platformId, ltiUserId } = learner;
    await anonymizeIn(db, db.ltiProgress, { organizationId, platformId, ltiUserId }, (id) => ({
      ...{ ltiUserId: id, contextId: null, courseId: nilCourseId, gradeAskedAt: null },
    }));
  }
}

async function anonymizeIn<Record extends ProgressRecord>(
  db: Database,
  model: Model<Record>,
  filter: object,
  identity: (id: string) => object,
): Promise<void> {
  const records = await model.find(filter).lean<ProgressRecord[]>().exec();
  for (const record of records) {
    const { _id, organizationId, lessonId, revision, finished, items, positionOrder } = record;
    const lesson = { organizationId, lessonId };
    const limit = { limit: minRecords };
    const [embed, lti] = await Promise.all([
      db.embedProgress.countDocuments(lesson, limit).exec(),
      db.ltiProgress.countDocuments(lesson, limit).exec(),
    ]);
    if (embed + lti < minRecords) continue;
    const set = {
      ...identity(`anonymous-${randomUUID()}`),
      ...{ progressData: null, progressDataOrder: null, variables: [], recentWriteIds: [], stepTimes: [] },
      positionOrder: positionOrder && anonymousOrder(positionOrder.at),
      items: items.map(withoutAnswer),
      startedAt: record.startedAt && dayOf(record.startedAt),
      completedAt: record.completedAt && dayOf(record.completedAt),
      lastActivityAt: dayOf(record.lastActivityAt),
      finished: finished && { ...finished, at: dayOf(finished.at) },
      ...{ erasedAt: null, updateDueAt: null },
    };
    // A record that has changed meanwhile is removed, as it would be without the anonymous copy.
    await model.updateOne({ _id, revision } as object, { $set: set });
  }
}

function withoutAnswer(item: StoredItem): StoredItem {
  const { at: answeredAt, writeId } = anonymousOrder(item.answeredAt);
  return { ...item, answer: 'null', answeredAt, writeId };
}

function anonymousOrder(at: Date): FactOrder {
  return { at: dayOf(at), writeId: 'anonymous' };
}

function dayOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / dayMs) * dayMs);
}
