import { randomUUID } from 'node:crypto';
import type { Database } from '../../shared/models/database.ts';
import { seededId } from '../growth/seed.ts';
import { writePackage } from '../write-package.ts';

const batchSize = 5_000;
const questions = 10;
const seededAt = Date.parse('2026-01-15T09:00:00.000Z');
const statuses = ['not_started', 'in_progress', 'completed'] as const;

/** Writes a lesson with a question of a point in each step. */
export async function writeQuiz(folder: string): Promise<void> {
  const choices = [0, 1, 2, 3].map((choice) => ({ id: `choice-${choice}`, html: `Choice ${choice}` }));
  const steps = Array.from({ length: questions }, (_, number) => ({
    id: `step-${number}`,
    title: `Step ${number + 1}`,
    order_index: number,
    content: {
      root: { props: {} },
      content: [
        {
          type: 'MultipleChoice',
          props: { id: `MultipleChoice-${number}`, question: 'Which?', choices, correct: ['choice-0'] },
        },
      ],
    },
  }));
  await writePackage(folder, {
    lessonId: randomUUID(),
    versionId: randomUUID(),
    sections: [{ id: randomUUID(), title: 'Quiz', order_index: 0, steps }],
    variables: [],
  });
}

/** Inserts records of learners of one lesson, a second apart. Those who completed it have answered every question. */
export async function seedRecords(
  db: Pick<Database, 'embedProgress'>,
  ids: { organizationId: string; lessonId: string; versionId: string },
  learners: number,
): Promise<void> {
  for (let start = 0; start < learners; start += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, learners - start) }, (_, index) =>
      recordOf(ids, start + index),
    );
    await db.embedProgress.collection.insertMany(batch as never[], { ordered: false });
  }
}

function recordOf(ids: { organizationId: string; lessonId: string; versionId: string }, record: number) {
  const status = statuses[record % statuses.length];
  const isFinished = status === 'completed';
  const answeredAt = new Date(seededAt + record * 1000);
  const items = Array.from({ length: isFinished ? questions : 3 }, (_, number) => ({
    widgetId: `MultipleChoice-${number}`,
    widgetType: 'MultipleChoice',
    stepId: `step-${number}`,
    answer: `["choice-${(record + number) % 4}"]`,
    score: (record * (number + 3)) % 7 < 4 ? 1 : 0,
    maxScore: 1,
    tries: 1,
    answeredAt,
    writeId: 'seeded',
  }));
  const order = { at: answeredAt, writeId: 'seeded' };
  const score = items.reduce((sum, item) => sum + item.score, 0);
  return {
    _id: seededId(`record ${record}`),
    learnerId: `learner-${record}`,
    ...ids,
    ...{ revision: items.length, attempt: 1, recentWriteIds: [], status, score, maxScore: questions },
    ...{ sectionIndex: 0, stepIndex: 0, stepId: 'step-0', totalSteps: questions },
    progressData: '{"visited":[0,1,2],"bookmarks":{"1":true}}',
    ...{ positionOrder: order, progressDataOrder: order, erasedAt: null, stepTimes: [] },
    variables: [{ name: 'tries', value: '3', ...order }],
    items,
    userAttributes: { text: '{"group":"b"}', issuedAt: 0 },
    startedAt: answeredAt,
    completedAt: isFinished ? answeredAt : null,
    lastActivityAt: answeredAt,
    finished: isFinished ? { at: answeredAt, score, maxScore: questions, isCurrent: true } : null,
  };
}
