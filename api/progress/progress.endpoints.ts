import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { findEmbedProgress } from '../../shared/models/embed-progress.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { findLtiProgress } from '../../shared/models/lti-progress.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { textErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { noStore } from '../http/headers.ts';
import { identifier, learnerId, ltiUserId, platformId } from '../http/learner-ids.ts';
import { busy } from '../http/request-limits.ts';
import type { RequestLimits } from '../http/request-limits.ts';
import { failure, json } from '../http/responses.ts';
import { embedProgress, ltiProgress } from './bodies.ts';
import { presentEmbedProgress, presentLtiProgress } from './present-progress.ts';

const lessonId = z.guid('Invalid lesson ID format').toLowerCase().meta({ description: 'Id of the lesson.' });

const embedProgressPath = z.object({ lessonId, learnerId });
const ltiProgressPath = z.object({ lessonId, ltiUserId });
const ltiProgressQuery = z.object({
  platformId,
  contextId: identifier('contextId', 'contextId must be given once, and must not be empty').optional().meta({
    description:
      "The platform's id for the course. Without it, the record with the latest activity is returned.",
  }),
});

const noProgressText = 'No progress found for this learner and lesson';
const noProgress = failure(
  'No such lesson in your organization, no such platform, or the learner has not started the lesson: there is ' +
    'no record.',
  noProgressText,
);

interface ProgressDependencies {
  db: Database;
  requestLimits: RequestLimits;
}

const common = {
  method: 'get',
  access: apiAccess,
  scope: 'learners',
  errors: textErrors('Failed to fetch progress data'),
  invalid: 'INVALID_CONTENT',
  tag: 'Progress',
} as const;

/** GET /api/public/lessons/{lessonId}/progress/{learnerId} */
export const getProgress = defineEndpoint(
  {
    ...common,
    path: '/api/public/lessons/:lessonId/progress/:learnerId',
    params: embedProgressPath,
    audit: 'progress.read',
    operationId: 'getProgress',
    summary: "Read a learner's progress",
    description:
      'Returns the record of a learner whose lessons are embedded with tokens. It exists after the first write of the ' +
      'player. JSON values stay as they were stored.',
    responses: {
      200: json(
        'The record.',
        embedProgress,
        { inProgress: { summary: 'One question is answered', value: example.embedProgress } },
        noStore,
      ),
      404: noProgress,
      429: busy,
    },
  },
  (deps: ProgressDependencies) =>
    async ({ ctx, caller, params }) => {
      const learner = { organizationId: caller.organization._id, ...params };
      await deps.requestLimits.enterOrganization(learner.organizationId, ctx);
      const record = await findRecordOfLesson(deps.db, learner, () => findEmbedProgress(deps.db, learner));
      return { status: 200, body: presentEmbedProgress(record) };
    },
);

/** GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId} */
export const getLtiProgress = defineEndpoint(
  {
    ...common,
    path: '/api/public/lessons/:lessonId/lti-progress/:ltiUserId',
    params: ltiProgressPath,
    query: ltiProgressQuery,
    audit: 'progress.read',
    operationId: 'getLtiProgress',
    summary: "Read an LTI user's progress",
    description:
      'Returns the record of a user who launches the lesson from an LTI platform. Scores are out of 100. Teachers have ' +
      'no record, and neither have users that the platform does not identify.',
    responses: {
      200: json(
        'The record.',
        ltiProgress,
        { completed: { summary: 'The lesson is completed', value: example.ltiProgress } },
        noStore,
      ),
      404: noProgress,
      429: busy,
    },
  },
  (deps: ProgressDependencies) =>
    async ({ ctx, caller, params, query }) => {
      const learner = { organizationId: caller.organization._id, ...params, ...query };
      await deps.requestLimits.enterOrganization(learner.organizationId, ctx);
      const record = await findRecordOfLesson(deps.db, learner, () => findLtiProgress(deps.db, learner));
      return { status: 200, body: presentLtiProgress(record) };
    },
);

/** Finds a record. Records of a deleted lesson stay, because it may be imported again, but are not returned. */
async function findRecordOfLesson<Record>(
  db: Database,
  { organizationId, lessonId: id }: { organizationId: string; lessonId: string },
  find: () => Promise<Record | null>,
): Promise<Record> {
  const [exists, record] = await Promise.all([lessonExists(db, organizationId, id), find()]);
  if (record !== null && exists) return record;
  throw new LecternError('NOT_FOUND', noProgressText);
}
