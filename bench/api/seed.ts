import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { saveEmbedProgress } from '../../shared/models/embed-progress.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { BenchInstallation } from '../installation.ts';
import { writeSampleLesson } from './sample.ts';

/** The data for requests. */
export interface Seed {
  learnerIds: string[];
  small: SeededLesson;
  large: SeededLesson;
}

export interface SeededLesson {
  lessonId: string;
  versionId: string;
  /** An embed token for each learner. */
  tokens: string[];
}

const learnerIds = Array.from({ length: 500 }, (_, number) => `learner-${number}`);
const userAttributes = '{"group":"b"}';

/** Publishes a small lesson and one of 200 kB, with 500 learners half-way through the small one. */
export async function seed(installation: BenchInstallation): Promise<Seed> {
  const { folder, db, secrets, organization } = installation;
  const organizationId = organization._id;
  const publish = async (name: string, size: { steps: number; wordsPerStep: number }) => {
    const path = join(folder, name);
    await writeSampleLesson(path, size);
    return installation.publish(path);
  };
  const small = await publish('small', { steps: 4, wordsPerStep: 40 });
  const large = await publish('large', { steps: 80, wordsPerStep: 350 });

  for (const learnerId of learnerIds) {
    const learner = { organizationId, lessonId: small.lessonId, learnerId };
    const fields = { recordId: randomUUID(), erasedAt: null, updateDueAt: null, addRows: null };
    const state = { ...halfWay(small), userAttributes: { text: userAttributes, issuedAt: 0 } };
    if (!(await saveEmbedProgress(db, learner, state, fields))) throw new Error('the record exists');
  }
  const withTokens = ({ lessonId, _id }: LessonVersion): SeededLesson => ({
    lessonId,
    versionId: _id,
    tokens: learnerIds.map((learnerId) => {
      const claims = { organizationId, lessonId, versionId: null, learnerId, userAttributes };
      return signEmbedToken(secrets.signing, claims, 86_400).token;
    }),
  });
  return {
    learnerIds,
    small: withTokens(small),
    large: withTokens(large),
  };
}

function halfWay({ _id, totalSteps }: LessonVersion): ProgressState {
  const now = new Date();
  const items = Array.from({ length: totalSteps / 2 }, (_, number) => ({
    widgetId: `MultipleChoice-${number}`,
    widgetType: 'MultipleChoice',
    stepId: _id,
    answer: '{"selected":["choice-1"]}',
    score: 1,
    maxScore: 1,
    tries: 1,
    answeredAt: now,
    writeId: 'seeded',
  }));
  const order = { at: now, writeId: 'seeded' };
  return {
    versionId: _id,
    revision: 1,
    attempt: 1,
    status: 'in_progress',
    score: items.length,
    maxScore: totalSteps,
    sectionIndex: 0,
    stepIndex: items.length,
    stepId: _id,
    totalSteps,
    progressData: '{"visited":[0,1,2],"bookmarks":{"1":true}}',
    ...{ positionOrder: order, progressDataOrder: order, recentWriteIds: [], userAttributes: null },
    variables: [{ name: 'tries', value: '3', ...order }],
    items,
    stepTimes: items.map(() => 60_000),
    startedAt: now,
    completedAt: null,
    lastActivityAt: now,
    finished: null,
  };
}
