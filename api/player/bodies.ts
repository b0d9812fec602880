import { z } from 'zod';
import { versionStatuses } from '../../shared/models/lesson-version.ts';
import { roles } from '../../shared/accounts/permissions.ts';
import { count, jsonObject, uuid } from '../http/responses.ts';
import { embedFields, ltiFields } from '../progress/bodies.ts';

const sessionFields = {
  attempt: z
    .int()
    .min(1)
    .meta({ description: 'The number of the attempt; each restart begins another one.' }),
  attemptCompleted: z.boolean().meta({
    description: 'Whether the learner has finished this attempt; `status` tells it for all attempts.',
  }),
  versionId: uuid.meta({ description: 'The version of the position.' }),
};

const launchFields = {
  ltiUserId: z.string().meta({ description: 'Empty if the platform does not identify the user.' }),
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
    description: 'The progress from which a player continues: of an embed token or of an LTI launch.',
  });

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
    steps: z.array(step).meta({ description: 'In playing order.' }),
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
    sections: z.array(section).meta({ description: 'In playing order.' }),
    totalSteps: count,
    totalSections: count,
    attributions: z
      .array(z.strictObject({ mediaId: uuid, text: z.string(), url: z.string(), portfolioUrl: z.string() }))
      .meta({ description: 'The credits of its media, which learners must see. The player shows them.' }),
  })
  .meta({
    id: 'PlayerLesson',
    description: 'A lesson for the player. Media appear in it as `media:<uuid>`, even inside longer strings.',
  });

const metadata = z.strictObject({
  title: z.string(),
  status: z.enum(versionStatuses),
  totalSections: count,
  totalSteps: count,
  estimatedDuration: z.number().min(0).meta({ description: 'Minutes.' }),
});

export const playability = z.strictObject({
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
