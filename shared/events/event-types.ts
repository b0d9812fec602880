import { z } from 'zod';
import { progressStatuses } from '../progress/state.ts';

/* The events that leave Lectern, and their data. Integrators' receivers depend on each name and field. */

const uuid = z.guid();
const time = z.iso.datetime();
const organization = { organizationId: uuid };
const version = { ...organization, lessonId: uuid, versionId: uuid };

const learner = z.discriminatedUnion('source', [
  z.strictObject({
    source: z.literal('embed'),
    learnerId: z.string().meta({ description: 'The learnerId of the embed token.' }),
  }),
  z.strictObject({
    source: z.literal('lti'),
    ltiUserId: z.string(),
    platformId: z.string(),
    contextId: z.string().nullable(),
  }),
]);
const [embedLearner, ltiLearner] = learner.options;

const result = {
  ...version,
  revision: z
    .int()
    .min(1)
    .meta({
      description:
        'Increases with each write to this learner’s record. Events may arrive in any order: ignore one whose ' +
        'revision is not greater than the last one.',
    }),
  attempt: z.int().min(1).meta({ description: 'Increases when the learner restarts the lesson.' }),
  status: z.enum(progressStatuses),
  score: z
    .number()
    .nullable()
    .meta({ description: 'Points; for LTI, out of 100. Null before a scored answer.' }),
  maxScore: z.number().nullable(),
  completedAt: time.nullable().meta({ description: 'When the learner first finished the lesson.' }),
};

const progress = z
  .discriminatedUnion('source', [
    embedLearner.extend(result).meta({ title: 'Learner of an integrator' }),
    ltiLearner.extend(result).meta({ title: 'User of an LTI platform' }),
  ])
  .meta({ id: 'ProgressEventData' });

const publication = z
  .strictObject({ ...version, versionNumber: z.int().min(1) })
  .meta({ id: 'PublicationEventData' });

const exported = {
  ...version,
  versionNumber: z.int().min(1),
  profile: z
    .string()
    .meta({ description: 'What the archive holds, as in export keys: "plain" without options.' }),
};

/** An event type: when it occurs, and the schema of its data. */
interface EventDefinition {
  when: string;
  data: z.ZodType;
}

export const eventDefinitions = {
  'progress.started': { when: 'A learner did something in a lesson for the first time.', data: progress },
  'progress.updated': {
    when: 'A learner’s record changed. Sent at most once a minute for each learner and lesson, with the latest state.',
    data: progress,
  },
  'progress.scored': { when: 'The points of the current attempt changed.', data: progress },
  'progress.completed': {
    when: 'A learner finished a lesson; again after each restart that is finished.',
    data: progress,
  },
  'lesson.published': { when: 'A version was published.', data: publication },
  'lesson.unpublished': { when: 'A version was unpublished, or its lesson deleted.', data: publication },
  'export.ready': {
    when: 'A worker has built an archive.',
    data: z
      .strictObject({
        ...exported,
        bytes: z.int().min(0),
        failures: z.int().min(0).meta({ description: 'Media and widgets that could not be downloaded.' }),
      })
      .meta({ id: 'ExportReadyEventData' }),
  },
  'export.failed': {
    when: 'An archive could not be built, and is not retried.',
    data: z.strictObject({ ...exported, error: z.string() }).meta({ id: 'ExportFailedEventData' }),
  },
  'lti.grade.failed': {
    when: 'A grade could not be sent to a learning platform, and is not retried.',
    data: z
      .strictObject({
        ...organization,
        lessonId: uuid,
        ltiUserId: z.string(),
        platformId: z.string(),
        contextId: z.string().nullable(),
        scoreId: uuid.meta({ description: 'Id of the score, for `lectern lti resend`.' }),
        reason: z.string(),
        httpStatus: z
          .int()
          .nullable()
          .meta({ description: 'The status of the platform’s response; null without one.' }),
      })
      .meta({ id: 'GradeFailedEventData' }),
  },
  'learner.erased': {
    when: 'The data of a learner were erased. Erase your copy.',
    data: z
      .discriminatedUnion('source', [
        embedLearner.extend(organization).meta({ title: 'Erased learner of an integrator' }),
        ltiLearner
          .omit({ contextId: true })
          .extend(organization)
          .meta({ title: 'Erased user of an LTI platform' }),
      ])
      .meta({ id: 'LearnerErasedEventData' }),
  },
  'webhook.disabled': {
    when: 'Lectern disabled another webhook of the organization, because its receiver is gone or has failed for days.',
    data: z
      .strictObject({
        ...organization,
        webhookId: uuid,
        url: z.string(),
        reason: z.enum(['gone', 'failing']),
      })
      .meta({ id: 'WebhookDisabledEventData' }),
  },
  'xapi.paused': {
    when: 'A learning record store rejects Lectern: its statements wait until you resume the destination.',
    data: z
      .strictObject({
        ...organization,
        destinationId: uuid,
        endpoint: z.string(),
        httpStatus: z.int().meta({
          description:
            'Of the response: 401 or 403 for the credentials, for example; 400 after ten rejected statements in a row; 200 for a response without ids of statements, such as a web page.',
        }),
      })
      .meta({ id: 'XapiPausedEventData' }),
  },
  ping: {
    when: 'An integrator tests the webhook.',
    data: z.strictObject({ ...organization, webhookId: uuid }).meta({ id: 'PingEventData' }),
  },
} as const satisfies Record<string, EventDefinition>;

export type EventType = keyof typeof eventDefinitions;
export type EventData<Type extends EventType> = z.input<(typeof eventDefinitions)[Type]['data']>;

/** The events that a webhook can subscribe to. `ping` reaches every webhook, when it is tested. */
export const subscribableEvents = (Object.keys(eventDefinitions) as EventType[]).filter(
  (type): type is Exclude<EventType, 'ping'> => type !== 'ping',
);

/** An event, ready for the outbox. */
export type LecternEvent = {
  [Type in EventType]: {
    type: Type;
    /** Identifies the event: a repeated one has the same key. */
    key: string;
    at: Date;
    organizationId: string;
    /** For lists of deliveries; null for events without a lesson or a learner. */
    lessonId: string | null;
    learnerId: string | null;
    data: EventData<Type>;
  };
}[EventType];
