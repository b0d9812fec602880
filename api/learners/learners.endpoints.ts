import { z } from 'zod';
import { readAnswerColumns } from '../../shared/learners/answer-columns.ts';
import { answersAsCsv, learnersAsCsv, learnersAsNdjson } from '../../shared/learners/learner-tables.ts';
import { presentLearner } from '../../shared/learners/listed-learner.ts';
import type { Database } from '../../shared/models/database.ts';
import { learnersOf } from '../../shared/models/learner-list.ts';
import type { ListedLearner } from '../../shared/models/learner-list.ts';
import { findContentParts } from '../../shared/models/lesson-content.ts';
import { findLessonVersion } from '../../shared/models/lesson-list.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { findPlayedVersion } from '../../shared/models/lesson-version.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { taskWait } from '../../shared/platform/tasks.ts';
import { apiAccess } from '../accounts/access.ts';
import type { ApiCaller } from '../accounts/access.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { noStore } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { toPageCursor } from '../http/pagination.ts';
import { failure, json } from '../http/responses.ts';
import type { WrittenResponse } from '../http/responses.ts';
import { tooManyRequests } from '../http/middleware/rate-limit.ts';
import { exampleLearners, learnerPage } from './bodies.ts';
import { learnerQuery, lessonParams, selectionOf } from './learner-requests.ts';
import { sendStream } from '../http/send-stream.ts';

interface LearnerDependencies {
  db: Database;
}

interface LearnersRequest {
  ctx: EndpointContext;
  caller: ApiCaller;
  params: z.output<typeof lessonParams>;
  query: z.output<typeof learnerQuery>;
}

const defaultLimit = 100;

/** The number of records that each query of a stream reads. A stream holds two such pages in memory. */
const batch = { learners: 500, answers: 400 };

const csvType = 'text/csv';
const ndjsonType = 'application/x-ndjson';

const common = {
  method: 'get',
  access: apiAccess,
  scope: 'learners',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Learners',
  params: lessonParams,
  query: learnerQuery,
} as const;

const noLesson = failure(
  'The lesson does not exist, was deleted, or belongs to another organization.',
  'Lesson not found',
);
const failures = {
  404: noLesson,
  422: failure('A parameter is unknown or invalid.', 'page is not a known parameter'),
  429: {
    ...tooManyRequests,
    texts: [...tooManyRequests.texts, 'Too many lists of learners are being sent; try again in 10 seconds'],
  },
} as const;

const streamHeaders: Headers = {
  ...noStore,
  'Content-Disposition': z.string().meta({ description: 'Names the file.' }),
};

function streamOf(description: string, type: string): WrittenResponse {
  return {
    kind: 'written',
    description,
    content: { [type]: { schema: z.string() } },
    headers: streamHeaders,
  };
}

const rows =
  'The response is a stream without a length. It is complete if it ends without a connection error. To continue, use ' +
  '`since` with the `lastActivityAt` of the last row.';

/** Returns the learners that a request selects. @throws {LecternError} NOT_FOUND */
async function findLearners(
  { db }: LearnerDependencies,
  { caller, params, query }: LearnersRequest,
  options: { batch: number; withItems?: boolean },
): Promise<AsyncGenerator<ListedLearner>> {
  const organizationId = caller.organization._id;
  if (!(await lessonExists(db, organizationId, params.lessonId))) throw lessonNotFound();
  const { order, cursor = null } = query;
  const after = cursor && { lastActivityAt: cursor.createdAt, id: cursor.id };
  return learnersOf(db, selectionOf({ organizationId, ...params }, query), { order, after, ...options });
}

/** Yields at most `limit` entries. */
async function* take<T>(entries: AsyncIterable<T>, limit = Infinity): AsyncGenerator<T> {
  let taken = 0;
  for await (const entry of entries) {
    yield entry;
    taken += 1;
    if (taken >= limit) return;
  }
}

async function sendLearners(
  deps: LearnerDependencies,
  request: LearnersRequest,
  type: typeof csvType | typeof ndjsonType,
): Promise<typeof written> {
  const { ctx, caller, query } = request;
  const { limit } = query;
  const found = await findLearners(deps, request, { batch: Math.min(limit ?? Infinity, batch.learners) });
  const learners = take(found, limit);
  await sendStream(ctx, caller.organization._id, {
    chunks: () => (type === csvType ? learnersAsCsv(learners) : learnersAsNdjson(learners)),
    type,
    fileName: type === csvType ? 'learners.csv' : 'learners.ndjson',
  });
  return written;
}

/** GET /api/lessons/{lessonId}/learners */
export const listLearners = defineEndpoint(
  {
    ...common,
    path: '/api/lessons/:lessonId/learners',
    audit: 'learners.list',
    operationId: 'listLearners',
    summary: "List a lesson's learners",
    description:
      'Every learner with a record of the lesson: of embedded lessons and of LTI platforms, by last activity. Follow ' +
      '`nextCursor` until it is null. With `Accept: text/csv` or `application/x-ndjson`, the response has all of them.',
    responses: {
      ...failures,
      200: {
        ...json(
          'A page of learners.',
          learnerPage,
          { onePage: { value: { learners: exampleLearners, nextCursor: null } } },
          noStore,
        ),
        alternatives: {
          [csvType]: { schema: z.string().meta({ description: 'A row for each learner, with a header.' }) },
          [ndjsonType]: { schema: z.string().meta({ description: 'A learner in each line.' }) },
        },
      },
    },
  },
  (deps: LearnerDependencies) => async (request) => {
    const { ctx, query } = request;
    ctx.vary('Accept');
    const type = ctx.accepts('application/json', csvType, ndjsonType);
    if (type === csvType || type === ndjsonType) return sendLearners(deps, request, type);
    const { limit = defaultLimit } = query;
    const learners: ListedLearner[] = [];
    for await (const learner of take(await findLearners(deps, request, { batch: limit + 1 }), limit + 1))
      learners.push(learner);
    const last = learners.length > limit ? learners[limit - 1] : undefined;
    const nextCursor =
      last === undefined ? null : toPageCursor({ createdAt: last.lastActivityAt, id: last._id });
    return { status: 200, body: { learners: learners.slice(0, limit).map(presentLearner), nextCursor } };
  },
);

/** GET /api/lessons/{lessonId}/learners.csv */
export const learnersCsv = defineEndpoint(
  {
    ...common,
    path: '/api/lessons/:lessonId/learners.csv',
    audit: 'learners.list',
    operationId: 'listLearnersAsCsv',
    summary: "Download a lesson's learners as CSV",
    description: `A row for each learner. ${rows}`,
    sample: [
      'curl -f "$LECTERN/api/lessons/$LESSON_ID/learners.csv" -H "Authorization: Bearer $CREDENTIALS" -o learners.csv',
    ],
    responses: { ...failures, 200: streamOf('A header and a row for each learner.', csvType) },
  },
  (deps: LearnerDependencies) => (request) => sendLearners(deps, request, csvType),
);

/** GET /api/lessons/{lessonId}/learners.ndjson */
export const learnersNdjson = defineEndpoint(
  {
    ...common,
    path: '/api/lessons/:lessonId/learners.ndjson',
    audit: 'learners.list',
    operationId: 'listLearnersAsNdjson',
    summary: "Download a lesson's learners as NDJSON",
    description: `A line of JSON for each learner. ${rows}`,
    responses: { ...failures, 200: streamOf('A learner in each line, as in the list.', ndjsonType) },
  },
  (deps: LearnerDependencies) => (request) => sendLearners(deps, request, ndjsonType),
);

/** GET /api/lessons/{lessonId}/answers.csv */
export const answersCsv = defineEndpoint(
  {
    ...common,
    path: '/api/lessons/:lessonId/answers.csv',
    audit: 'answers.list',
    operationId: 'listAnswersAsCsv',
    summary: "Download learners' answers as CSV",
    description:
      'A row for each learner, and a column for each question of a version: of `version`, or else of the version that ' +
      `was published last. Answers to questions that the version lacks are left out. ${rows}`,
    responses: {
      ...failures,
      200: streamOf('A header and a row for each learner.', csvType),
      404: failure(
        'The lesson or version does not exist, or none is published.',
        'Lesson not found',
        'Version not found',
      ),
    },
  },
  (deps: LearnerDependencies) => async (request) => {
    const { ctx, caller, params, query } = request;
    const { limit } = query;
    const learners = await findLearners(deps, request, {
      batch: Math.min(limit ?? Infinity, batch.answers),
      withItems: true,
    });
    const organizationId = caller.organization._id;
    const version =
      query.version === undefined
        ? await findPlayedVersion(deps.db, organizationId, params.lessonId, null)
        : await findLessonVersion(deps.db, organizationId, params.lessonId, query.version);
    const content = version && (await findContentParts(deps.db, version._id));
    if (version === null || content === null) throw new LecternError('NOT_FOUND', 'Version not found');
    const questions = await readAnswerColumns(content, version, taskWait);
    await sendStream(ctx, organizationId, {
      chunks: () => answersAsCsv(take(learners, limit), questions),
      type: csvType,
      fileName: 'answers.csv',
    });
    return written;
  },
);

function lessonNotFound(): LecternError {
  return new LecternError('NOT_FOUND', 'Lesson not found');
}
