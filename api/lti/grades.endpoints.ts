import { z } from 'zod';
import { deliveryStates } from '../../shared/deliveries/outbox.ts';
import { changeFailedScores, changeScores, dismissing, resending } from '../../shared/lti/scores/manage.ts';
import type { ScoreChange } from '../../shared/lti/scores/manage.ts';
import type { Database } from '../../shared/models/database.ts';
import { listScores } from '../../shared/models/lti-score.ts';
import { apiAccess } from '../accounts/access.ts';
import type { ApiCaller } from '../accounts/access.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { listQuery, presentPosition } from '../http/pagination.ts';
import { failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { gradeChangeFaults, gradeChangeSchema } from './platform-requests.ts';
import { changedGrades, exampleGrade, gradePage, presentGrade } from './present-platform.ts';

/** How many grades one request changes at most. */
const maxChanged = 10_000;

const common = {
  access: apiAccess,
  scope: 'platforms',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Platforms',
} as const;
const id = (name: string) => z.guid(`Invalid ${name} ID format`).toLowerCase().optional();
const exampleId = exampleGrade.id;
const body = strictBody(
  gradeChangeSchema,
  {
    some: { value: { ids: [exampleId] } },
    failed: { value: { failed: true, platformId: exampleGrade.platformId } },
  },
  gradeChangeFaults,
);
const changed = json('How many were changed.', changedGrades, {
  some: { value: { changed: 1, more: false } },
});
const notFound = failure(
  'One of the grades does not exist, or belongs to another organization.',
  `There is no score ${exampleId}.`,
);

/** GET /api/grades */
export const listGrades = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/grades',
    query: listQuery('grades', {
      platformId: id('platform').meta({ description: 'Only those for this platform.' }),
      state: z
        .enum(deliveryStates, `state must be one of ${deliveryStates.join(', ')}`)
        .optional()
        .meta({ description: 'Only those in this state.' }),
      lessonId: id('lesson').meta({ description: 'Only those of this lesson.' }),
      ltiUserId: z
        .string()
        .max(255)
        .optional()
        .meta({ description: 'Only those of this user of a platform.' }),
    }),
    audit: 'grade.read',
    operationId: 'listGrades',
    summary: 'List grades for learning platforms',
    description: 'Those of the newest learners first, with the cause where a platform does not accept one.',
    responses: {
      200: json('A page of grades.', gradePage, {
        one: { value: { grades: [exampleGrade], nextCursor: null } },
      }),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, query: { limit, cursor, ...selection } }) => {
      const before = cursor && { createdAt: cursor.createdAt, _id: cursor.id };
      const selected = { organizationId: caller.organization._id, ...selection };
      const found = await listScores(db, selected, { before, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : undefined;
      const next = last === undefined ? null : { createdAt: last.createdAt, id: last._id };
      return { status: 200, body: { grades: shown.map(presentGrade), nextCursor: presentPosition(next) } };
    },
);

async function change(
  db: Database,
  { ctx, caller }: { ctx: EndpointContext; caller: ApiCaller },
  { ids, platformId }: z.output<typeof gradeChangeSchema>,
  how: ScoreChange,
) {
  const organizationId = caller.organization._id;
  const selection = { organizationId, platformId };
  const done =
    ids === undefined
      ? await changeFailedScores(db, selection, how, maxChanged)
      : await changeScores(db, ids, how, organizationId);
  auditedChange.set(ctx, { details: { count: done.length } });
  return { changed: done.length, more: ids === undefined && done.length === maxChanged };
}

/** POST /api/grades/resend */
export const resendGrades = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/grades/resend',
    audit: 'grade.resend',
    operationId: 'resendGrades',
    summary: 'Send grades again',
    description: 'A worker sends them within half a minute.',
    body,
    responses: {
      200: changed,
      404: notFound,
      409: failure(
        'A learner has not finished the lesson.',
        `Score ${exampleId} has nothing to send: its learner has not finished the lesson.`,
      ),
    },
  },
  ({ db }: { db: Database }) =>
    async (request) => ({
      status: 200,
      body: await change(db, request, await request.readBody(), resending),
    }),
);

/** POST /api/grades/dismiss */
export const dismissGrades = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/grades/dismiss',
    audit: 'grade.dismiss',
    operationId: 'dismissGrades',
    summary: 'Dismiss failed grades',
    description: 'Until they change, or the learner opens the link again.',
    body,
    responses: {
      200: changed,
      404: notFound,
      409: failure('A grade has not failed.', `Score ${exampleId} has not failed: it is idle.`),
    },
  },
  ({ db }: { db: Database }) =>
    async (request) => ({
      status: 200,
      body: await change(db, request, await request.readBody(), dismissing),
    }),
);

export const gradeEndpoints = [resendGrades, dismissGrades, listGrades] as const;
