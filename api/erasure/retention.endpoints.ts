import { z } from 'zod';
import {
  changeRetention,
  presentRetention,
  previewRetention,
  retentionFault,
} from '../../shared/erasure/retention.ts';
import type { RetentionDependencies } from '../../shared/erasure/retention.ts';
import type { Database } from '../../shared/models/database.ts';
import { forAllKinds, noRecords, recordKinds } from '../../shared/models/learner-records.ts';
import { defaultMaxPerRun, findRetention, noRetention } from '../../shared/models/retention.ts';
import type { RetentionSettings } from '../../shared/models/retention.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { credentials } from '../accounts/access.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint, parseRequest, unknownParameter } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { tooManyRequests } from '../http/middleware/rate-limit.ts';
import { count, failure, json, time } from '../http/responses.ts';
import { tooMany } from '../http/retry-after.ts';
import { removedCounts } from './present-erasure.ts';

const maxDays = 36_500;
const daysRule = (name: string) => `${name} must be a whole number of days between 1 and ${maxDays}, or null`;
const capRule = 'maxPerRun must be a whole number between 1 and 1000000';

const days = z.strictObject(
  forAllKinds((kind) => z.int(daysRule(kind)).min(1, daysRule(kind)).max(maxDays, daysRule(kind)).nullable()),
);
const settings = z.strictObject(
  {
    days: z
      .strictObject(days.partial().shape, `days must be an object with ${recordKinds.join(', ')}`)
      .meta({ description: 'After how many days records of a kind are removed. A missing kind is off.' }),
    maxPerRun: z
      .int(capRule)
      .min(1, capRule)
      .max(1_000_000, capRule)
      .default(defaultMaxPerRun)
      .meta({ description: 'The maximum number of records of each kind that one run removes.' }),
  },
  'Request body must be an object with days and maxPerRun',
);

const retentionBody = z
  .strictObject({
    days,
    maxPerRun: count,
    nextRunAt: time.nullable().meta({ description: 'Null while all kinds are off.' }),
    lastRun: z
      .strictObject({
        startedAt: time,
        finishedAt: time,
        removed: removedCounts,
        isCapped: z.boolean().meta({ description: 'Whether some kind reached `maxPerRun`.' }),
      })
      .nullable(),
  })
  .meta({ id: 'Retention' });

const previewBody = z
  .strictObject({
    wouldRemove: removedCounts,
    isCapped: z.boolean().meta({ description: 'Whether some kind has more than `maxPerRun`.' }),
  })
  .meta({ id: 'RetentionPreview' });

const exampleDays = { ...noRetention, progress: 730, ltiProgress: 730, deliveries: 3 };
const example: z.input<typeof retentionBody> = {
  days: exampleDays,
  maxPerRun: defaultMaxPerRun,
  nextRunAt: '2026-11-22T09:14:31.027Z',
  lastRun: {
    startedAt: '2026-11-21T09:14:31.027Z',
    finishedAt: '2026-11-21T09:14:32.412Z',
    removed: { ...noRecords, progress: 12 },
    isCapped: false,
  },
};

const common = {
  path: '/api/retention',
  access: credentials(),
  scope: 'retention',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Learners',
} as const;

/** GET /api/retention */
export const getRetention = defineEndpoint(
  {
    ...common,
    method: 'get',
    operationId: 'getRetention',
    summary: 'Get the retention of learners’ records',
    responses: { 200: json('Settings and the last run.', retentionBody, { one: { value: example } }) },
  },
  ({ db }: { db: Database }) =>
    async ({ caller }) => ({
      status: 200,
      body: presentRetention(await findRetention(db, caller.organization._id)),
    }),
);

const tooManyPreviews = 'A dry run of your organization is in progress';

/** PUT /api/retention */
export const setRetention = defineEndpoint(
  {
    ...common,
    method: 'put',
    audit: 'retention.change',
    query: z.strictObject(
      {
        dryRun: z
          .enum(['true', 'false'], 'dryRun must be true or false')
          .default('false')
          .meta({ description: 'Only counts what the next run would remove with these settings.' }),
      },
      { error: unknownParameter },
    ),
    body: jsonBody({
      maxBytes: 8 * 1024,
      description: 'All settings. They replace the current ones.',
      schema: settings,
      parse: (text): RetentionSettings => {
        const parsed = parseRequest(settings, JSON.parse(text), 'INVALID_CONTENT');
        return { ...parsed, days: { ...noRetention, ...parsed.days } };
      },
      examples: { one: { value: { days: { progress: 730, ltiProgress: 730, deliveries: 3 } } } },
    }),
    operationId: 'setRetention',
    summary: 'Set the retention of learners’ records',
    description:
      'A worker removes records once a day: progress after days without activity, grades whose progress is gone, and ' +
      'messages and events by age. The first run begins a day after the change. Nothing is removed unless you set it.',
    responses: {
      200: json(
        'The settings; with `dryRun=true`, what a run would remove.',
        z.union([retentionBody, previewBody]),
        {
          set: { value: example },
          dryRun: { value: { wouldRemove: { ...noRecords, progress: 12 }, isCapped: false } },
        },
      ),
      422: failure(
        'A setting is invalid, or a parameter is unknown.',
        'maxPerRun must be a whole number between 1 and 1000000',
      ),
      429: {
        ...tooManyRequests,
        texts: [...tooManyRequests.texts, `${tooManyPreviews}; try again in 10 seconds`],
      },
    },
  },
  ({ db, audit }: RetentionDependencies) => {
    /** Organizations with a dry run in progress. Each may have one, because it may read the index of many lessons. */
    const previewing = new Set<string>();
    return async ({ ctx, caller, query, readBody }) => {
      const organizationId = caller.organization._id;
      const given = await readBody();
      const fault = retentionFault(given);
      if (fault !== null) throw new LecternError('INVALID_CONTENT', fault);
      const { days: after, maxPerRun } = given;
      const isDryRun = query.dryRun === 'true';
      auditedChange.set(ctx, { details: { ...after, maxPerRun, isDryRun } });
      if (!isDryRun)
        return {
          status: 200,
          body: presentRetention(await changeRetention({ db, audit }, organizationId, given)),
        };
      if (previewing.has(organizationId)) throw tooMany(tooManyPreviews);
      previewing.add(organizationId);
      try {
        return { status: 200, body: await previewRetention(db, organizationId, given) };
      } finally {
        previewing.delete(organizationId);
      }
    };
  },
);
