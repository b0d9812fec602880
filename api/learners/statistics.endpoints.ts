import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { findStatistics, requestStatistics } from '../../shared/models/lesson-statistics.ts';
import type { LessonStatistics } from '../../shared/models/lesson-statistics.ts';
import { findLessonVersion } from '../../shared/models/lesson-list.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { findPlayedVersion } from '../../shared/models/lesson-version.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { RawJson } from '../../shared/platform/raw-json.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint, unknownParameter } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { noStore, retryAfter } from '../http/headers.ts';
import { tooManyRequests } from '../http/middleware/rate-limit.ts';
import { failure, json } from '../http/responses.ts';
import { tooMany } from '../http/retry-after.ts';
import { lessonParams, versionQuery } from './learner-requests.ts';
import { exampleStatistics, lessonStatistics, pendingStatistics } from './statistics-bodies.ts';

/** Counts up to this age are used without counting again. */
const freshMs = 60_000;

/** Counting a version takes at most the reciprocal of this number of a worker's time. */
const maxShare = 20;

const maxWaitMs = 5_000;
const pollIntervalMs = 250;
const retrySeconds = 5;

const tooManyDue = 'Too many statistics of your organization are being counted';

/** GET /api/lessons/{lessonId}/statistics */
export const getStatistics = defineEndpoint(
  {
    method: 'get',
    path: '/api/lessons/:lessonId/statistics',
    access: apiAccess,
    scope: 'read',
    audit: 'statistics.read',
    errors: apiErrors(),
    invalid: 'INVALID_CONTENT',
    tag: 'Learners',
    params: lessonParams,
    query: z.strictObject(
      {
        version: versionQuery.meta({
          description: 'The version; by default the one that was published last.',
        }),
      },
      { error: unknownParameter },
    ),
    operationId: 'getStatistics',
    summary: "Get a lesson's statistics",
    description:
      'Learners by status, a histogram of scores, how many reached each step, and an item analysis of each question, of ' +
      'the learners whose last write was in the version. Workers count in the background: `computedAt` says when.',
    responses: {
      200: json('The statistics.', lessonStatistics, { counted: { value: exampleStatistics } }, noStore),
      202: json(
        'A worker counts the learners for the first time. Retry after the seconds in `Retry-After`.',
        pendingStatistics,
        { pending: { value: { status: 'pending' } } },
        { ...noStore, ...retryAfter },
      ),
      404: failure(
        'The lesson or version does not exist, or none is published.',
        'Lesson not found',
        'Version not found',
      ),
      422: failure('A parameter is unknown or invalid.', 'page is not a known parameter'),
      429: {
        ...tooManyRequests,
        texts: [...tooManyRequests.texts, `${tooManyDue}; try again in 10 seconds`],
      },
    },
  },
  ({ db }: { db: Database }) =>
    async ({ ctx, caller, params: { lessonId }, query }) => {
      const organizationId = caller.organization._id;
      const version = await findVersion(db, organizationId, lessonId, query.version);
      const versionId = version._id;
      const counted = await countedOf(db, { _id: versionId, organizationId, lessonId }, ctx.state.signal);
      if (counted === null) {
        ctx.set('Retry-After', String(retrySeconds));
        return { status: 202, body: { status: 'pending' } };
      }
      const computedAt = counted.at.toISOString();
      const statistics = new RawJson(caller.permissions.includes('learners') ? counted.all : counted.ofMany);
      return { status: 200, body: { lessonId, versionId, computedAt, statistics } };
    },
);

async function findVersion(
  db: Database,
  organizationId: string,
  lessonId: string,
  versionId: string | undefined,
) {
  if (!(await lessonExists(db, organizationId, lessonId)))
    throw new LecternError('NOT_FOUND', 'Lesson not found');
  const version =
    versionId === undefined
      ? await findPlayedVersion(db, organizationId, lessonId, null)
      : await findLessonVersion(db, organizationId, lessonId, versionId);
  if (version === null) throw new LecternError('NOT_FOUND', 'Version not found');
  return version;
}

/** Returns the counts of a version. Requests newer ones if they are old; waits a moment if there are none. */
async function countedOf(
  db: Database,
  version: { _id: string; organizationId: string; lessonId: string },
  signal: AbortSignal,
): Promise<LessonStatistics['counted']> {
  for (const until = Date.now() + maxWaitMs; ;) {
    const found = await findStatistics(db, version._id);
    if (isDue(found) && !(await requestStatistics(db, version))) throw tooMany(tooManyDue);
    const counted = found?.counted ?? null;
    if (counted !== null || Date.now() >= until) return counted;
    await delay(pollIntervalMs, undefined, { signal });
  }
}

/** Returns whether counts are missing or old, and none are requested. */
function isDue(found: LessonStatistics | null): boolean {
  if (found === null || found.dueAt !== null) return found === null;
  const { at, durationMs } = found.counted ?? { at: new Date(0), durationMs: 0 };
  return Date.now() - at.getTime() > Math.max(freshMs, maxShare * durationMs);
}
