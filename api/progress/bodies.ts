import { z } from 'zod';
import { progressStatuses } from '../../shared/progress/state.ts';
import { count, jsonObject, time, uuid } from '../http/responses.ts';

const index = z.int().min(0);
const points = z.number().min(0).nullable();
const outOf100 = z.number().min(0).max(100).nullable();

const status = z.enum(progressStatuses).meta({ description: 'The status never goes back.' });
const times = {
  startedAt: time.nullable().meta({ description: 'The first activity; null while not started.' }),
  completedAt: time.nullable().meta({ description: 'When the lesson was first completed; never changes.' }),
  lastActivityAt: time.meta({ description: 'The latest activity.' }),
};
const position = {
  currentSectionIndex: index.meta({ description: 'Zero-based.' }),
  currentStepIndex: index.meta({ description: 'Zero-based, inside the section.' }),
};
const state = {
  progressData: jsonObject.nullable().meta({ description: 'State for resuming, as the player stored it.' }),
  variableState: jsonObject
    .nullable()
    .meta({ description: 'Values of the lesson variables, as the player stored them.' }),
};

const item = z
  .strictObject({
    widgetId: z.string().min(1).meta({ description: 'Id of the block that was answered.' }),
    widgetType: z.string().min(1),
    stepId: z.string().min(1),
    answer: z.unknown().meta({ description: 'Any JSON value, as the player sent it.' }),
    score: points.meta({ description: 'Points earned; null for an answer that is not scored.' }),
    maxScore: points.meta({
      description: 'Points that could be earned; null for an answer that is not scored.',
    }),
    answeredAt: time,
    tries: z.int().min(0).optional().meta({
      description: 'The number of tries in this attempt; missing for 1, and 0 while all answers were empty.',
    }),
  })
  .meta({ id: 'ProgressItem', description: "A learner's last answer to one widget." });

export const embedFields = {
  lessonId: uuid,
  learnerId: z.string().min(1).max(255).meta({ description: 'As in the embed token.' }),
  status,
  score: points.meta({ description: 'Points earned; null until the learner answers a scored question.' }),
  maxScore: points.meta({ description: 'Points that could be earned; null when nothing is scored.' }),
  ...position,
  totalSteps: count.nullable(),
  ...state,
  items: z
    .array(item)
    .nullable()
    .meta({ description: 'Answers, in the order in which the first ones arrived.' }),
  userAttributes: jsonObject
    .nullable()
    .meta({ description: 'Those of the embed token that was issued last, of all that wrote.' }),
  ...times,
};

export const ltiFields = {
  lessonId: uuid,
  ltiUserId: z.string().min(1),
  platformId: z.string().min(1),
  contextId: z.string().nullable().meta({ description: 'Null for a launch outside a course.' }),
  courseId: uuid.meta({ description: "Lectern's own id of the platform's course." }),
  status,
  score: outOf100.meta({ description: 'Out of 100; null until the learner answers a scored question.' }),
  maxScore: outOf100.meta({ description: '100; null when nothing is scored.' }),
  ...position,
  ...state,
  ...times,
};

export const embedProgress = z
  .strictObject(embedFields)
  .meta({ id: 'EmbedProgress', description: 'Progress of one learner in one lesson.' });

export const ltiProgress = z.strictObject(ltiFields).meta({
  id: 'LtiProgress',
  description: 'Progress of one LTI user in one lesson, as launched from one course of a platform.',
});
