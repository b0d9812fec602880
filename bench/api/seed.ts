import { join } from 'node:path';
import type { Config } from '../../shared/config.ts';
import { issueApiKey } from '../../shared/models/api-key.ts';
import type { Database } from '../../shared/models/database.ts';
import { saveEmbedProgress } from '../../shared/models/embed-progress.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { createOrganization } from '../../shared/models/organization.ts';
import { importPackage } from '../../shared/packages/import.ts';
import { signEmbedToken } from '../../shared/player-tokens.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import { publishVersion } from '../../shared/publishing.ts';
import type { Secrets } from '../../shared/secrets.ts';
import type { Store } from '../../shared/storage/store.ts';
import { writeSampleLesson } from './sample.ts';

export interface SeedTools {
  db: Database;
  store: Store;
  config: Config;
  secrets: Secrets;
}

/** What requests are made of. */
export interface Seed {
  authorization: string;
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

/** One organization with one key, a small lesson and one of 200 kB, and 500 learners half-way through the small one. */
export async function seed(tools: SeedTools, folder: string): Promise<Seed> {
  const { db, secrets } = tools;
  const organization = await createOrganization(db, { slug: 'bench', name: 'Bench', plan: 'edtech' });
  const organizationId = organization._id;
  const key = await issueApiKey(db, secrets.keyPepper, { organizationId, label: null, expiresAt: null });

  const publish = async (name: string, size: { steps: number; wordsPerStep: number }) => {
    const path = join(folder, name);
    await writeSampleLesson(path, size);
    const options = { asNew: false, signal: new AbortController().signal };
    const { version } = await importPackage(tools, organization, path, options);
    return publishVersion(db, tools.store, version._id, { force: false });
  };
  const small = await publish('small', { steps: 4, wordsPerStep: 40 });
  const large = await publish('large', { steps: 80, wordsPerStep: 350 });

  for (const learnerId of learnerIds) {
    const learner = { organizationId, lessonId: small.lessonId, learnerId };
    const fields = { writeId: undefined, userAttributes };
    if (!(await saveEmbedProgress(db, learner, halfWay(small), fields))) throw new Error('the record exists');
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
    authorization: `Bearer ${key.publicKey}.${key.secretKey}`,
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
    answeredAt: now.toISOString(),
  }));
  return {
    versionId: _id,
    revision: 1,
    status: 'in_progress',
    score: items.length,
    maxScore: totalSteps,
    sectionIndex: 0,
    stepIndex: items.length,
    stepId: _id,
    totalSteps,
    progressData: '{"visited":[0,1,2],"bookmarks":{"1":true}}',
    variableState: '{"tries":3}',
    items,
    startedAt: now,
    completedAt: null,
    lastActivityAt: now,
  };
}
