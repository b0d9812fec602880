import { z } from 'zod';
import { learnerOrders, learnerSources } from '../../shared/models/learner-list.ts';
import type { LearnerSelection } from '../../shared/models/learner-list.ts';
import { progressStatuses } from '../../shared/progress/state.ts';
import { unknownParameter } from '../http/endpoint.ts';
import { pageCursor } from '../http/pagination.ts';

export const lessonParams = z.object({
  lessonId: z.guid('Invalid lesson ID format').toLowerCase().meta({ description: 'Id of the lesson.' }),
});

const maxLimit = 1000;
const limitRule = `limit must be a whole number between 1 and ${maxLimit}`;

export const versionQuery = z.guid('version must be a UUID').toLowerCase().optional();

export const learnerQuery = z.strictObject(
  {
    status: z
      .enum(progressStatuses, `status must be one of ${progressStatuses.join(', ')}`)
      .optional()
      .meta({ description: 'Only learners with this status.' }),
    since: z.iso
      .datetime({ offset: true, error: 'since must be a date and time, such as 2027-01-31T12:00:00Z' })
      .transform((text) => new Date(text))
      .optional()
      .meta({
        description: 'Only learners whose last activity is at or after this time.',
        override: { type: 'string', format: 'date-time' },
      }),
    version: versionQuery.meta({ description: 'Only learners whose last write was in this version.' }),
    source: z
      .enum(learnerSources, `source must be one of ${learnerSources.join(', ')}`)
      .optional()
      .meta({ description: 'Only learners of embedded lessons, or only users of LTI platforms.' }),
    platform: z
      .guid('platform must be a UUID')
      .toLowerCase()
      .optional()
      .meta({ description: "Only users of this LTI platform: Lectern's id of it." }),
    order: z
      .enum(learnerOrders, `order must be one of ${learnerOrders.join(', ')}`)
      .default('oldest')
      .meta({
        description:
          'The order of the last activity. With `oldest` first, no learner is missed who is active while you read; ' +
          'such a learner may be listed twice.',
      }),
    limit: z
      .string(limitRule)
      .regex(/^\d{1,4}$/, limitRule)
      .transform(Number)
      .refine((limit) => limit >= 1 && limit <= maxLimit, limitRule)
      .optional()
      .meta({
        description: 'The maximum number of learners. By default 100 in JSON, and all in CSV and NDJSON.',
        override: { type: 'integer', pattern: undefined, minimum: 1, maximum: maxLimit },
      }),
    cursor: pageCursor
      .optional()
      .meta({ description: 'The `nextCursor` of the previous page (pagination).' }),
  },
  { error: unknownParameter },
);

/** Returns the learners that a query selects. */
export function selectionOf(
  lesson: { organizationId: string; lessonId: string },
  { status, since, version: versionId, source, platform: platformId }: z.output<typeof learnerQuery>,
): LearnerSelection {
  return { ...lesson, status, since, versionId, source, platformId };
}
