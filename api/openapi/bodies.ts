import { z } from 'zod';
import { versionStatuses } from '../../shared/models/lesson-version.ts';
import { plans } from '../../shared/models/organization.ts';
import { roles } from '../../shared/models/user.ts';
import { progressStatuses } from '../../shared/progress/state.ts';
import { errorBody } from './responses.ts';

/**
 * The bodies of answers. Presenters make them and nothing parses them; tests hold real answers against the document
 * that these become part of.
 */

const uuid = z.guid();
const time = z.iso.datetime();
const index = z.int().min(0);
const count = z.int().min(0);
const jsonObject = z.record(z.string(), z.unknown());
const points = z.number().min(0).nullable();
const outOf100 = z.number().min(0).max(100).nullable();

const status = z.enum(progressStatuses).meta({ description: 'It never goes back.' });
const times = {
  startedAt: time.nullable().meta({ description: 'The first activity; null while not started.' }),
  completedAt: time.nullable().meta({ description: 'When the lesson was completed first; it stays.' }),
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
    score: points.meta({ description: 'Points gained; null for an answer that is not scored.' }),
    maxScore: points.meta({
      description: 'Points that could be gained; null for an answer that is not scored.',
    }),
    answeredAt: time,
  })
  .meta({ id: 'ProgressItem', description: "A learner's last answer to one widget." });

const embedFields = {
  lessonId: uuid,
  learnerId: z.string().min(1).max(255).meta({ description: 'As in the embed token.' }),
  status,
  score: points.meta({ description: 'Points gained; null until something scored was answered.' }),
  maxScore: points.meta({ description: 'Points that could be gained; null when nothing is scored.' }),
  ...position,
  totalSteps: count.nullable(),
  ...state,
  items: z.array(item).nullable().meta({ description: 'Answers, in the order of the first ones.' }),
  userAttributes: jsonObject
    .nullable()
    .meta({ description: 'Those of the embed token that the last write came with.' }),
  ...times,
};

const ltiFields = {
  lessonId: uuid,
  ltiUserId: z.string().min(1),
  platformId: z.string().min(1),
  contextId: z.string().nullable().meta({ description: 'Null for a launch outside a course.' }),
  courseId: uuid.meta({ description: "Lectern's own id of the platform's course." }),
  status,
  score: outOf100.meta({ description: 'Out of 100; null until something scored was answered.' }),
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

const sessionFields = {
  revision: count.meta({ description: 'Counts the writes; 0 before the first one.' }),
  attempt: z.int().min(1).meta({ description: 'Counts the attempts; each restart begins another one.' }),
  versionId: uuid.meta({ description: 'The version that the position is counted in.' }),
};

const launchFields = {
  ltiUserId: z.string().meta({ description: 'Empty where the platform does not say who launches.' }),
  courseId: ltiFields.courseId.meta({
    description: "Lectern's own id of the platform's course; the nil UUID for a launch that is not recorded.",
  }),
  items: embedFields.items,
};

const previewFields = {
  learnerId: z.string().max(255).meta({ description: 'As in the embed token; empty in a preview.' }),
};

export const session = z
  .union([
    z.strictObject({ ...embedFields, ...previewFields, ...sessionFields }).meta({ id: 'EmbedSession' }),
    z.strictObject({ ...ltiFields, ...launchFields, ...sessionFields }).meta({ id: 'LtiSession' }),
  ])
  .meta({
    id: 'PlayerSession',
    description: 'Progress as a player goes on from it: of an embed token, or of an LTI launch.',
  });

export const staleSession = z
  .strictObject({ ...errorBody.shape, current: session.meta({ description: 'What is stored.' }) })
  .meta({ id: 'StaleSession', description: 'Nothing was written: another write came first.' });

export const signedToken = z
  .strictObject({
    token: z.jwt().meta({ description: 'A JWT, for the `token` parameter of the player addresses.' }),
    expiresAt: time.meta({ description: 'When it ends.' }),
  })
  .meta({ id: 'SignedToken' });

const block = z
  .looseObject({
    type: z.string().optional().meta({ description: 'The widget type; only a draft may lack it.' }),
    props: z.looseObject({ id: z.string().meta({ description: 'Unique in the step.' }) }),
  })
  .meta({ id: 'Block', description: 'A block of a step, in the data model of the Puck editor.' });

const step = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    order_index: z.number(),
    content: z.strictObject({
      content: z.array(block),
      root: jsonObject,
      zones: z
        .record(z.string(), z.array(block))
        .optional()
        .meta({ description: 'Blocks of older content, by `<block id>:<zone>`.' }),
    }),
  })
  .meta({ id: 'Step' });

const section = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    order_index: z.number(),
    steps: z.array(step).meta({ description: 'In the order they are played in.' }),
  })
  .meta({ id: 'Section' });

const lesson = z
  .strictObject({
    lesson: z.strictObject({
      status: z.enum(versionStatuses),
      id: uuid,
      title: z.string(),
      variable_definitions: z.array(
        z.strictObject({ name: z.string(), type: z.string(), initialValue: z.unknown() }),
      ),
      widget_settings: z.strictObject({ overrides: jsonObject }),
    }),
    sections: z.array(section).meta({ description: 'In the order they are played in.' }),
    totalSteps: count,
    totalSections: count,
  })
  .meta({
    id: 'PlayerLesson',
    description: 'A lesson for the player. Media stand in it as `media:<uuid>`, also inside longer strings.',
  });

const metadata = z.strictObject({
  title: z.string(),
  status: z.enum(versionStatuses),
  totalSections: count,
  totalSteps: count,
  estimatedDuration: z.number().min(0).meta({ description: 'Minutes.' }),
});

const playability = z.strictObject({
  valid: z.boolean(),
  errors: z.array(
    z.strictObject({
      code: z.enum(['no_sections', 'empty_section', 'empty_step', 'block_without_type']),
      message: z.string().meta({ description: 'For people.' }),
      sectionId: z.string().optional(),
      stepId: z.string().optional(),
    }),
  ),
});

const playerDataFields = {
  lesson,
  userAttributes: jsonObject,
  metadata: metadata.optional().meta({ description: 'With `include_metadata=true`.' }),
  playability: playability.optional().meta({ description: 'Unless `validate_playability=false`.' }),
};

export const playerData = z
  .strictObject({
    ...playerDataFields,
    userAttributes: jsonObject.meta({ description: 'As in the token; `{}` for an LTI launch.' }),
  })
  .meta({ id: 'PlayerData' });

export const userPlayerData = z
  .strictObject({
    ...playerDataFields,
    userAttributes: z.strictObject({ userId: uuid, email: z.email(), role: z.enum(roles) }),
  })
  .meta({ id: 'UserPlayerData' });

export const contentAddress = z
  .strictObject({
    base: z.string().meta({
      description:
        'What `media/{mediaId}`, `widgets/{type}.js` and `widgets/{type}.css` stand behind: absolute where the ' +
        'service knows its public address, else a path.',
    }),
    expiresAt: time.meta({ description: 'When it ends, 60 to 90 minutes from now.' }),
    versionId: uuid.meta({ description: 'The version whose files it opens.' }),
  })
  .meta({ id: 'ContentAddress' });

export const oembed = z
  .strictObject({
    version: z.literal('1.0'),
    type: z.literal('rich'),
    provider_name: z.string(),
    provider_url: z.string(),
    title: z.string(),
    width: z.int().min(1).meta({ description: 'Pixels, at most `maxwidth`.' }),
    height: z.int().min(1).meta({ description: 'Pixels, at most `maxheight`.' }),
    html: z.string().meta({ description: 'A frame, without a token.' }),
    cache_age: z.int().meta({ description: 'Seconds.' }),
  })
  .meta({ id: 'Oembed' });

export const lessonPage = z
  .strictObject({
    lessons: z.array(
      z
        .strictObject({
          id: uuid,
          slug: z.string(),
          title: z.string(),
          status: z.enum(versionStatuses),
          latestVersion: z
            .strictObject({ id: uuid, versionNumber: z.int().min(1), publishedAt: time })
            .nullable()
            .meta({ description: 'The version that was published last and still is.' }),
          totalSections: count,
          totalSteps: count,
          updatedAt: time,
        })
        .meta({ id: 'ListedLesson' }),
    ),
    nextCursor: z.string().nullable().meta({ description: 'For the next page; null on the last one.' }),
  })
  .meta({ id: 'LessonPage' });

export const lessonVersions = z
  .strictObject({
    versions: z.array(
      z.strictObject({
        id: uuid,
        versionNumber: z.int().min(1),
        status: z.enum(versionStatuses),
        publishedAt: time.nullable().meta({ description: 'Null for one that never was published.' }),
      }),
    ),
  })
  .meta({ id: 'LessonVersions' });

export const userSession = z
  .strictObject({
    user: z.strictObject({ id: uuid, email: z.email(), role: z.enum(roles) }),
    organization: z.strictObject({ id: uuid, slug: z.string(), name: z.string(), plan: z.enum(plans) }),
    expiresAt: time.meta({ description: 'When the session ends.' }),
  })
  .meta({ id: 'UserSession' });

const check = z.enum(['ok', 'failed']);

export const serviceState = z.strictObject({
  name: z.literal('Lectern'),
  status: z.enum(['ok', 'no_workers', 'unavailable']).meta({
    description:
      '`no_workers`: lessons play, but exports wait and no grades are sent. `unavailable`: as `/health/ready`.',
  }),
  docs: z.string().meta({ description: 'Path of the API reference.' }),
  openapi: z.string().meta({ description: 'Path of the OpenAPI document.' }),
});
export const alive = z.strictObject({ status: z.literal('ok') });
export const readiness = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  checks: z.strictObject({
    mongodb: check.optional(),
    indexes: check.optional(),
    redis: check.optional(),
    store: check.optional(),
    shutdown: z.literal('failed').optional().meta({ description: 'Alone, while the process ends.' }),
  }),
});
