import { z } from 'zod';
import { choiceFlags, questionFlags } from '../../shared/learners/statistics.ts';
import * as example from '../http/examples.ts';
import { count, time, uuid } from '../http/responses.ts';

const percent = z.number();
const share = z.number().min(0).max(1);

const choice = z.strictObject({
  id: z.string().meta({ description: 'As in the lesson; `true` or `false` of a `TrueFalse`.' }),
  isCorrect: z.boolean(),
  learners: count,
  share,
  meanTotal: z
    .number()
    .nullable()
    .meta({ description: 'The mean points, in all questions, of those who took it.' }),
  pointBiserial: z.number().nullable().meta({
    description: 'The correlation of the choice and the points in the other questions, from -1 to 1.',
  }),
  flags: z.array(z.enum(choiceFlags)),
});

const question = z.strictObject({
  stepId: z.string(),
  widgetId: z.string(),
  widgetType: z.string(),
  learners: count,
  maxScore: z.number(),
  facility: percent.meta({ description: 'The mean points, as a percentage of `maxScore`.' }),
  standardDeviation: z.number().nullable().meta({ description: 'Of the points; null for one learner.' }),
  discrimination: percent.nullable().meta({
    description: 'The correlation of the points here and in the other questions, as a percentage.',
  }),
  efficiency: percent.nullable().meta({
    description: 'Their covariance, as a percentage of the largest that these points allow.',
  }),
  flags: z.array(z.enum(questionFlags)),
  choices: z.array(choice).nullable().meta({ description: 'Null for a question without choices.' }),
});

export const lessonStatistics = z
  .strictObject({
    lessonId: uuid,
    versionId: uuid,
    computedAt: time.meta({ description: 'When the learners were counted.' }),
    statistics: z
      .strictObject({
        learners: z.strictObject({ total: count, notStarted: count, inProgress: count, completed: count }),
        scores: z
          .array(z.strictObject({ fromPercent: z.int(), toPercent: z.int(), learners: count }))
          .meta({ description: 'Ten ranges; 100 % is in the last one.' }),
        steps: z
          .array(
            z.strictObject({
              stepId: z.string(),
              reached: count.meta({ description: 'Learners who have reached the step or a later one.' }),
              share,
              medianSeconds: count.nullable().meta({
                description:
                  'The median time for which learners were active on the step, rounded by up to 5 %. Null for fewer than 5 ' +
                  'learners with such a time, unless the key has the scope `learners`; null if none has one.',
              }),
            }),
          )
          .meta({ description: 'The steps in playing order.' }),
        items: z
          .strictObject({
            learners: count.meta({
              description: 'Learners whose current attempt is finished: only they count here.',
            }),
            cronbachAlpha: percent.nullable(),
            questions: z.array(question),
          })
          .nullable()
          .meta({
            description: 'Null for fewer than 5 such learners, unless the key has the scope `learners`.',
          }),
      })
      .nullable()
      .meta({ description: 'Null for fewer than 5 learners, unless the key has the scope `learners`.' }),
  })
  .meta({ id: 'LessonStatistics' });

export const pendingStatistics = z.strictObject({ status: z.literal('pending') });

export const exampleStatistics: z.input<typeof lessonStatistics> = {
  lessonId: example.lessonId,
  versionId: example.versionId,
  computedAt: '2026-11-21T09:20:02.114Z',
  statistics: {
    learners: { total: 120, notStarted: 4, inProgress: 36, completed: 80 },
    scores: [{ fromPercent: 90, toPercent: 100, learners: 25 }],
    steps: [{ stepId: 'step-1', reached: 120, share: 1, medianSeconds: 42 }],
    items: {
      learners: 80,
      cronbachAlpha: 71.3,
      questions: [
        {
          ...{ stepId: 'step-2', widgetId: 'MultipleChoice-1', widgetType: 'MultipleChoice' },
          ...{ learners: 80, maxScore: 1, facility: 62.5, standardDeviation: 0.4872 },
          ...{ discrimination: 34.1, efficiency: 45.6, flags: [] },
          choices: [
            {
              ...{ id: 'a', isCorrect: true, learners: 50, share: 0.625, meanTotal: 7.1 },
              ...{ pointBiserial: 0.341, flags: [] },
            },
            {
              ...{ id: 'b', isCorrect: false, learners: 2, share: 0.025, meanTotal: 4.5 },
              ...{ pointBiserial: -0.12, flags: ['rarely_picked'] },
            },
          ],
        },
      ],
    },
  },
};
