import { z } from 'zod';
import { ltiFields, embedFields } from '../progress/bodies.ts';
import * as example from '../http/examples.ts';
import { uuid } from '../http/responses.ts';

const percent = z.number().min(0).max(100).nullable().meta({
  description: 'The share of `maxScore`, out of 100; null until the learner answers a scored question.',
});
const versionId = uuid.meta({ description: "The version of the learner's last write." });

const embedLearner = z.strictObject({
  source: z.literal('embed'),
  learnerId: embedFields.learnerId,
  status: embedFields.status,
  score: embedFields.score,
  maxScore: embedFields.maxScore,
  percent,
  startedAt: embedFields.startedAt,
  completedAt: embedFields.completedAt,
  lastActivityAt: embedFields.lastActivityAt,
  versionId,
});

const ltiLearner = z.strictObject({
  source: z.literal('lti'),
  ltiUserId: ltiFields.ltiUserId,
  platformId: ltiFields.platformId,
  contextId: ltiFields.contextId,
  status: ltiFields.status,
  score: ltiFields.score,
  maxScore: ltiFields.maxScore,
  percent,
  startedAt: ltiFields.startedAt,
  completedAt: ltiFields.completedAt,
  lastActivityAt: ltiFields.lastActivityAt,
  versionId,
});

const listedLearner = z
  .discriminatedUnion('source', [embedLearner, ltiLearner])
  .meta({ id: 'ListedLearner', description: 'A learner with a record of the lesson, without state.' });

export const learnerPage = z
  .strictObject({
    learners: z.array(listedLearner),
    nextCursor: z.string().nullable().meta({ description: 'The cursor of the next page; null on the last.' }),
  })
  .meta({ id: 'LearnerPage' });

export const exampleLearners: z.input<typeof listedLearner>[] = [
  {
    source: 'embed',
    ...pick(example.embedProgress, [
      'learnerId',
      'score',
      'maxScore',
      'startedAt',
      'completedAt',
      'lastActivityAt',
    ]),
    status: 'in_progress',
    percent: 7.6923,
    versionId: example.versionId,
  },
  {
    source: 'lti',
    ...pick(example.ltiProgress, ['ltiUserId', 'platformId', 'contextId', 'score', 'maxScore']),
    ...pick(example.ltiProgress, ['startedAt', 'completedAt', 'lastActivityAt']),
    status: 'completed',
    percent: 76.9231,
    versionId: example.versionId,
  },
];

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}
