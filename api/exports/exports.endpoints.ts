import { z } from 'zod';
import { cancelOpenJob } from '../../shared/exports/cancel.ts';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import { findRecentExport, recentExports, recentStatuses } from '../../shared/exports/recent.ts';
import type { RecentExport } from '../../shared/exports/recent.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { apiAccess, sessionAccess } from '../accounts/access.ts';
import type { ApiCaller } from '../accounts/access.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { listQuery, nextCursorField, presentPosition } from '../http/pagination.ts';
import { count, failure, json, time, uuid } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { planFault } from './authorize.ts';
import { internalErrorMessage } from './export-status.ts';

const shape = {
  id: z.string(),
  lessonId: uuid,
  versionId: uuid,
  slug: z.string(),
  versionNumber: z.int(),
  profile: z.string().meta({ description: 'What kind of archive it is, with its options.' }),
  status: z.enum(recentStatuses),
  progress: z.strictObject({ done: count, total: count, bytes: count }),
  size: count.nullable().meta({ description: 'The bytes of the archive; null until it is ready.' }),
  missingFiles: count.nullable().meta({
    description: 'How many files it lacks, which its manifest names; null until it is ready.',
  }),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  requestedAt: time,
  endedAt: time.nullable(),
};
const recentBody = z.strictObject(shape).meta({ id: 'RecentExport' });
const operatedBody = z.strictObject({ organizationId: uuid, ...shape }).meta({ id: 'OperatedExport' });

const example: z.input<typeof recentBody> = {
  id: 'x0123456789abcdef0123456789abcdef01234567-8e03978e-40d5-43e8-bc93-6894a57f9324',
  lessonId: 'b2c31cf9-50e1-41e9-8a87-a67383019488',
  versionId: 'e7c1a3f9-5b2d-4c8e-9f0a-1b2c3d4e5f60',
  ...{ slug: 'tides', versionNumber: 2, profile: 'plain', status: 'failed' },
  progress: { done: 12, total: 40, bytes: 1_048_576 },
  ...{ size: null, missingFiles: null },
  error: { code: 'INVALID_CONTENT', message: 'The content of this version is missing.' },
  ...{ requestedAt: '2026-11-21T09:12:04.180Z', endedAt: '2026-11-21T09:12:09.002Z' },
};

/** @param forOperator shows the messages of internal errors. */
function present(
  { id, job, status, progress, result, error, requestedAt, endedAt }: RecentExport,
  forOperator = false,
): z.input<typeof recentBody> {
  const { lessonId, versionId, slug, versionNumber, profile } = job;
  return {
    ...{ id, lessonId, versionId, slug, versionNumber, profile, status, progress },
    size: result?.size ?? null,
    missingFiles: result?.failures ?? null,
    error: error && {
      code: error.code,
      message: error.expose || forOperator ? error.message : internalErrorMessage,
    },
    requestedAt: requestedAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
}

const maxIds = 100;
const idsFault = `ids must be a list of 1 to ${maxIds} ids of exports`;
const idsBody = strictBody(
  z.strictObject(
    {
      ids: z
        .array(z.string(idsFault).regex(/^x[0-9a-f]{40}-[0-9a-f-]{36}$/, idsFault), idsFault)
        .min(1, idsFault)
        .max(maxIds, idsFault),
    },
    { error: objectFault },
  ),
  { one: { value: { ids: [example.id] } } },
);
const notFoundText = 'Export not found';
const notFound = failure(
  'One of the exports is older than a day, or belongs to another organization.',
  notFoundText,
);
const changed = json('How many were changed.', z.strictObject({ changed: count }), {
  one: { value: { changed: 1 } },
});

const common = { errors: apiErrors(), invalid: 'INVALID_CONTENT', tag: 'Export' } as const;
const ofOrganization = { ...common, access: apiAccess, scope: 'read' } as const;
const status = z
  .enum(recentStatuses, `status must be one of ${recentStatuses.join(', ')}`)
  .optional()
  .meta({ description: 'Only exports with this status.' });

interface QueueDependencies {
  queue: ExportQueue;
}

/** @throws {LecternError} NOT_FOUND if one is unknown; then none is changed */
function requireExports(
  queue: ExportQueue,
  { organization }: ApiCaller,
  ids: readonly string[],
): Promise<RecentExport[]> {
  return Promise.all(
    [...new Set(ids)].map(async (id) => {
      const found = await findRecentExport(queue, organization._id, id);
      if (found === null) throw new LecternError('NOT_FOUND', notFoundText);
      return found;
    }),
  );
}

/** GET /api/exports */
export const listExports = defineEndpoint(
  {
    ...ofOrganization,
    method: 'get',
    path: '/api/exports',
    query: listQuery('exports', {
      status,
      lessonId: z
        .guid('Invalid lesson ID format')
        .toLowerCase()
        .optional()
        .meta({ description: 'Only exports of this lesson.' }),
    }),
    operationId: 'listExports',
    summary: 'List exports',
    description:
      'The builds of the last day, the newest first, at most 1,000. Archives that are ready stay longer: ' +
      'ask for their status. With a filter, a page may be empty: continue until `nextCursor` is null.',
    responses: {
      200: json(
        'A page of exports.',
        z.strictObject({ exports: z.array(recentBody), nextCursor: nextCursorField }),
        { one: { value: { exports: [example], nextCursor: null } } },
      ),
    },
  },
  ({ queue }: QueueDependencies) =>
    async ({ caller, query: { limit, cursor = null, ...selected } }) => {
      const selection = { organizationId: caller.organization._id, ...selected };
      const { exports, next } = await recentExports(queue, selection, { limit, after: cursor });
      return {
        status: 200,
        body: { exports: exports.map((one) => present(one)), nextCursor: presentPosition(next) },
      };
    },
);

/** POST /api/exports/retry */
export const retryExports = defineEndpoint(
  {
    ...ofOrganization,
    method: 'post',
    path: '/api/exports/retry',
    audit: 'export.retry',
    operationId: 'retryExports',
    summary: 'Build exports again',
    description: 'Queues the archives, in any status. An archive that is ready is not built again.',
    body: idsBody,
    responses: {
      200: changed,
      403: {
        ...failure("The organization's plan does not include export.", planFault),
        codes: { [planFault]: 'FEATURE_NOT_AVAILABLE' },
      },
      404: notFound,
    },
  },
  ({ queue }: QueueDependencies) =>
    async ({ ctx, caller, readBody }) => {
      const { ids } = await readBody();
      if (caller.organization.plan !== 'edtech') throw new LecternError('FEATURE_NOT_AVAILABLE', planFault);
      const found = await requireExports(queue, caller, ids);
      for (const { job } of found) await enqueueExport(queue, job);
      auditedChange.set(ctx, { details: { count: found.length } });
      return { status: 200, body: { changed: found.length } };
    },
);

/** POST /api/exports/cancel */
export const cancelExports = defineEndpoint(
  {
    ...ofOrganization,
    method: 'post',
    path: '/api/exports/cancel',
    audit: 'export.cancel',
    operationId: 'cancelExports',
    summary: 'Cancel exports',
    description:
      'Removes them from the queue, or stops their builds. A request that waits for one adds it again. Those that have ' +
      'ended stay as they are.',
    body: idsBody,
    responses: { 200: changed, 404: notFound },
  },
  ({ queue }: QueueDependencies) =>
    async ({ ctx, caller, readBody }) => {
      const found = await requireExports(queue, caller, (await readBody()).ids);
      const outcomes = await Promise.all(found.map(({ id, job }) => cancelOpenJob(queue, job, id)));
      const canceled = outcomes.filter((outcome) => outcome !== 'none').length;
      auditedChange.set(ctx, { details: { count: canceled } });
      return { status: 200, body: { changed: canceled } };
    },
);

/** GET /api/operator/exports */
export const listAllExports = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/operator/exports',
    access: sessionAccess,
    scope: 'operator',
    tag: 'Operation',
    query: listQuery('exports', { status }),
    operationId: 'listAllExports',
    summary: 'List the exports of all organizations',
    description: 'The builds of the last day, the newest first, at most 5,000, with the causes of failures.',
    responses: {
      200: json(
        'A page of exports.',
        z.strictObject({ exports: z.array(operatedBody), nextCursor: nextCursorField }),
        {
          one: {
            value: {
              exports: [{ organizationId: '9c4b7a1e-3d2f-4e5a-8b6c-7d8e9f0a1b2c', ...example }],
              nextCursor: null,
            },
          },
        },
      ),
    },
  },
  ({ queue }: QueueDependencies) =>
    async ({ query: { limit, cursor = null, ...selected } }) => {
      const selection = { organizationId: null, ...selected };
      const { exports, next } = await recentExports(queue, selection, { limit, after: cursor });
      const listed = exports.map((one) => ({
        organizationId: one.job.organizationId,
        ...present(one, true),
      }));
      return { status: 200, body: { exports: listed, nextCursor: presentPosition(next) } };
    },
);
