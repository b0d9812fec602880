import type { RouterContext } from '@koa/router';
import { z } from 'zod';
import { auditedErasure, presentReport, previewErasure, requestErasure } from '../../shared/erasure/erase.ts';
import type { Database } from '../../shared/models/database.ts';
import { erasureModes, findErasure } from '../../shared/models/erasure.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { LearnerSubject } from '../../shared/tokens/learner-subject.ts';
import { apiAccess } from '../accounts/access.ts';
import { auditedChange } from '../http/audit.ts';
import type { RequestState } from '../http/context.ts';
import { defineEndpoint, unknownParameter } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { learnerId, ltiUserId, platformId } from '../http/learner-ids.ts';
import { failure, json } from '../http/responses.ts';
import { erasureBody, erasureId, erasurePreview, exampleErasure, examplePreview } from './present-erasure.ts';

const common = { errors: apiErrors(), tag: 'Learners' } as const;

const options = {
  dryRun: z
    .enum(['true', 'false'], 'dryRun must be true or false')
    .default('false')
    .meta({ description: 'Only counts what would be removed.' }),
  mode: z
    .enum(erasureModes, `mode must be one of ${erasureModes.join(', ')}`)
    .default('erase')
    .meta({
      description:
        '`anonymize` keeps points, status and position under a random id, without answers, state and attributes, in ' +
        'lessons with at least 5 records.',
    }),
};

const responses = {
  200: json('With `dryRun=true`: what an erasure would remove.', erasurePreview, {
    preview: { value: examplePreview },
  }),
  202: json('The erasure. Follow it at `/api/erasures/{erasureId}`.', erasureBody, {
    begun: { value: { ...exampleErasure, state: 'removing', finishedAt: null } },
  }),
  400: failure(
    'An id or a parameter is invalid, or a parameter is unknown.',
    'dry_run is not a known parameter',
  ),
} as const;

const description =
  'Rejects the tokens that were signed up to now, and starts a job that removes all records of the learner: progress ' +
  'and answers in all lessons and courses, grades, and events that were sent or wait. It takes about a minute. ' +
  'Repeating the request is harmless. A token that is signed later begins a new record.';

interface EraseDependencies {
  db: Database;
  secrets: Pick<Secrets, 'keyPepper'>;
}

async function erase(
  { db, secrets }: EraseDependencies,
  ctx: RouterContext<RequestState>,
  learner: LearnerSubject,
  { dryRun, mode }: { dryRun: 'true' | 'false'; mode: (typeof erasureModes)[number] },
) {
  if (dryRun === 'true') {
    auditedChange.set(ctx, { details: { mode, isDryRun: true } });
    return { status: 200 as const, body: await previewErasure(db, learner) };
  }
  const erasure = await requestErasure({ db, pepper: secrets.keyPepper }, learner, { mode });
  auditedChange.set(ctx, { details: auditedErasure(erasure) });
  return { status: 202 as const, body: presentReport(erasure) };
}

/** DELETE /api/learners/{learnerId} */
export const eraseLearner = defineEndpoint(
  {
    ...common,
    method: 'delete',
    path: '/api/learners/:learnerId',
    access: apiAccess,
    scope: 'erase',
    audit: 'learner.erase',
    params: z.object({ learnerId }),
    query: z.strictObject(options, { error: unknownParameter }),
    operationId: 'eraseLearner',
    summary: 'Erase a learner',
    description,
    responses,
  },
  (deps: EraseDependencies) =>
    ({ ctx, caller, params, query }) =>
      erase(deps, ctx, { source: 'embed', organizationId: caller.organization._id, ...params }, query),
);

/** DELETE /api/lti-learners/{ltiUserId} */
export const eraseLtiLearner = defineEndpoint(
  {
    ...common,
    method: 'delete',
    path: '/api/lti-learners/:ltiUserId',
    access: apiAccess,
    scope: 'erase',
    audit: 'learner.erase',
    params: z.object({ ltiUserId }),
    query: z.strictObject({ platformId, ...options }, { error: unknownParameter }),
    operationId: 'eraseLtiLearner',
    summary: 'Erase a user of an LTI platform',
    description: `${description} The platform keeps the grades that it has accepted.`,
    responses,
  },
  (deps: EraseDependencies) =>
    ({ ctx, caller, params, query: { platformId, ...query } }) => {
      const organizationId = caller.organization._id;
      return erase(deps, ctx, { source: 'lti', organizationId, platformId, ...params }, query);
    },
);

const notFoundText = 'Erasure not found';

/** GET /api/erasures/{erasureId} */
export const getErasure = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/erasures/:erasureId',
    access: apiAccess,
    scope: 'erase',
    params: z.object({ erasureId }),
    operationId: 'getErasure',
    summary: 'Follow an erasure',
    description:
      'Reports what was removed, and what others still hold: gradebooks of platforms, learning record stores, and ' +
      'receivers of webhooks. The report names no learner.',
    responses: {
      200: json('The erasure.', erasureBody, { finished: { value: exampleErasure } }),
      400: failure('The erasure id is not a UUID.'),
      404: failure('There is no such erasure, or it belongs to another organization.', notFoundText),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      const erasure = await findErasure(db, caller.organization._id, params.erasureId);
      if (erasure === null) throw new LecternError('NOT_FOUND', notFoundText);
      return { status: 200, body: presentReport(erasure) };
    },
);

/** In the order in which requests match them. */
export const erasureEndpoints = [eraseLearner, eraseLtiLearner, getErasure] as const;
