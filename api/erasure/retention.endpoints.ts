import { z } from 'zod';
import { removeExpired } from '../../shared/erasure/retention.ts';
import type { Database } from '../../shared/models/database.ts';
import { forAllKinds, noRecords, recordKinds } from '../../shared/models/learner-records.ts';
import { findRetention, noRetention, saveRetention } from '../../shared/models/retention.ts';
import type { Retention, RetentionDays } from '../../shared/models/retention.ts';
import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';
import { apiAccess } from '../accounts/access.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint, parseRequest, unknownParameter } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { tooManyRequests } from '../http/middleware/rate-limit.ts';
import { failure, json, time } from '../http/responses.ts';
import { removedCounts } from './present-erasure.ts';

const maxDays = 36_500;
const daysRule = (name: string) => `${name} must be a whole number of days between 1 and ${maxDays}, or null`;

const days = z.strictObject(
  forAllKinds((kind) => z.int(daysRule(kind)).min(1, daysRule(kind)).max(maxDays, daysRule(kind)).nullable()),
);
const settings = z.strictObject(
  {
    days: z
      .strictObject(days.partial().shape, `days must be an object with ${recordKinds.join(', ')}`)
      .meta({ description: 'After how many days records of a kind are removed. A missing kind is off.' }),
  },
  'Request body must be an object with days',
);
const retentionBody = z
  .strictObject({
    days,
    nextRunAt: time.nullable().meta({ description: 'Null while all kinds are off.' }),
  })
  .meta({ id: 'Retention' });
const dryRunBody = z.strictObject({ wouldRemove: removedCounts }).meta({ id: 'RetentionDryRun' });

const example: z.input<typeof retentionBody> = {
  days: { ...noRetention, progress: 730, ltiProgress: 730, deliveries: 3 },
  nextRunAt: '2026-11-22T09:14:31.027Z',
};

function present({ days: kept, dueAt }: Retention) {
  return { days: kept, nextRunAt: dueAt?.toISOString() ?? null };
}

const common = {
  path: '/api/retention',
  access: apiAccess,
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
    responses: { 200: json('The settings.', retentionBody, { one: { value: example } }) },
  },
  ({ db }: { db: Database }) =>
    async ({ caller }) => ({ status: 200, body: present(await findRetention(db, caller.organization._id)) }),
);

const refusal = 'A dry run of your organization is in progress';

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
          .meta({ description: 'Only counts what a run would remove now with these settings.' }),
      },
      { error: unknownParameter },
    ),
    body: jsonBody({
      maxBytes: 8 * 1024,
      description: 'All settings. They replace the current ones.',
      schema: settings,
      parse: (text): RetentionDays => {
        const parsed = parseRequest(settings, JSON.parse(text), 'INVALID_CONTENT');
        return { ...noRetention, ...parsed.days };
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
        z.union([retentionBody, dryRunBody]),
        {
          set: { value: example },
          dryRun: { value: { wouldRemove: { ...noRecords, progress: 12 } } },
        },
      ),
      422: failure(
        'A setting is invalid, or a parameter is unknown.',
        'progress must be a whole number of days between 1 and 36500, or null',
      ),
      429: {
        ...tooManyRequests,
        texts: [...tooManyRequests.texts, `${refusal}; try again in 10 seconds`],
      },
    },
  },
  ({ db }: { db: Database }) => {
    // A dry run may read the index of many lessons.
    const dryRuns = new ConcurrencyLimit({ concurrent: 1, waiting: 0, refusal });
    return async ({ ctx, caller, query, readBody }) => {
      const _id = caller.organization._id;
      const given = await readBody();
      const isDryRun = query.dryRun === 'true';
      auditedChange.set(ctx, { details: { ...given, isDryRun } });
      if (!isDryRun) return { status: 200, body: present(await saveRetention(db, _id, given)) };
      const wouldRemove = { ...noRecords };
      const { signal } = ctx.state;
      await dryRuns.run(_id, signal, () =>
        removeExpired(db, { _id, days: given }, { removed: wouldRemove, isDryRun, signal }),
      );
      return { status: 200, body: { wouldRemove } };
    };
  },
);
