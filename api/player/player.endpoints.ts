import type { Context } from 'koa';
import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { maxJsonParts } from '../../shared/platform/json-text.ts';
import { PrintedJson } from '../../shared/platform/raw-json.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import {
  parseProgressWrite,
  progressWriteSchema,
  tooManyStepTimesText,
} from '../../shared/progress/write.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import { failure, json, time, uuid } from '../http/responses.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { apiErrors, presentError, textErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { anyOrigin, encoded, limited, noStore } from '../http/headers.ts';
import { jsonTextOf, readJsonBytes, tooManyPartsText } from '../http/middleware/json-body.ts';
import { tooLargeText } from '../http/middleware/request-bytes.ts';
import { lessonParams, playerToken } from './access.ts';
import {
  assertNotPreview,
  findTokenVersion,
  findVersionInPlay,
  nothingToPlay,
  otherLessonText,
  playerQuerySchema,
  previewText,
} from './authorize.ts';
import { playerData, session, staleSession } from './bodies.ts';
import { chunksUrl, contentUrl } from './content-url.ts';
import type { ContentUrlDependencies } from './content-url.ts';
import { playerDataOptions, sendPlayerData } from './player-data.ts';
import type { PlayerDataDependencies } from './player-data.ts';
import { enterSession, factsOf, readSession, writeSession } from './session.ts';
import type { SessionLimits, SessionResources, WriteDependencies } from './session.ts';

const unplayable = 'Lesson has validation errors that prevent playback';

/** GET …/player-data: the lesson that a token names. */
export const getPlayerData = defineEndpoint(
  {
    method: 'get',
    path: '/api/public/lessons/:lessonId/player-data',
    access: playerToken('GET, OPTIONS', { uncached: true }),
    errors: textErrors('An unexpected error occurred while fetching lesson data'),
    params: lessonParams,
    query: playerQuerySchema.extend(playerDataOptions),
    operationId: 'getPlayerData',
    tag: 'Player',
    summary: 'Load a lesson',
    description:
      'Returns the lesson of the token, in the version that it pins, or else in the latest published one. Pages of ' +
      'every origin may load it: CORS allows all, and cookies are ignored. The content includes the right answers, ' +
      'because players need them.',
    responses: {
      200: json(
        'The lesson.',
        playerData,
        {
          lesson: {
            summary: 'Without options',
            value: {
              lesson: example.playerLesson,
              userAttributes: example.userAttributes,
              playability: { valid: true, errors: [] },
            },
          },
          metadata: {
            summary: 'With include_metadata=true and validate_playability=false',
            value: {
              lesson: example.playerLesson,
              userAttributes: example.userAttributes,
              metadata: example.metadata,
            },
          },
        },
        { ...noStore, ...encoded },
      ),
      400: failure(
        'The lesson id is not a UUID, the token is missing, or an option is neither true nor false.',
      ),
      404: nothingToPlay,
      422: failure('The lesson cannot be played, and `validate_playability` is not false.', unplayable),
    },
  },
  (deps: PlayerDataDependencies & { db: Database; lessons: Pick<PreparedLessons, 'facts'> }) =>
    async ({ ctx, caller: token, query }) => {
      const version = await findTokenVersion(deps.db, token);
      const facts = await factsOf(deps.lessons, version._id);
      if (query.validate_playability && facts.playabilityErrors.length > 0) {
        throw new LecternError('INVALID_CONTENT', unplayable);
      }
      const userAttributes = token.kind === 'embed' ? token.userAttributes : '{}';
      await sendPlayerData(deps, ctx, version, { facts, userAttributes, options: query });
      return written;
    },
);

const sessionEndpoint = {
  path: '/api/public/lessons/:lessonId/session',
  access: playerToken('GET, POST, OPTIONS', { reportsErasure: true }),
  errors: apiErrors(),
  params: lessonParams,
  query: playerQuerySchema,
  tag: 'Player',
} as const;

const busy = failure(
  'Too many requests per minute, too many concurrent requests of this learner, or too much data of the organization ' +
    'at once. Retry after `Retry-After` seconds.',
  'Too many concurrent requests from this learner; try again in 2 seconds',
  'Too much data requested at once; try again in 5 seconds',
  'Too much data sent at once by this learner; try again in 5 seconds',
);

/** GET …/session: where the learner continues. */
export const getPlayerSession = defineEndpoint(
  {
    ...sessionEndpoint,
    method: 'get',
    operationId: 'getPlayerSession',
    summary: "Read the learner's session",
    description:
      'Returns where the learner continues. Before the first write, the session is at revision 0 and `not_started`, ' +
      'and nothing is created. If another version was published since, position and answers are carried over to it, ' +
      "and the answers earn that version's points. Launches that are not recorded, of teachers and of users that the " +
      'platform does not identify, are always at revision 0; so are previews, whose `learnerId` is empty.',
    responses: {
      200: json(
        'The session.',
        session,
        {
          notStarted: {
            summary: 'Nothing is stored yet',
            value: { ...example.notStarted, revision: 0, attempt: 1, versionId: example.versionId },
          },
          inProgress: { summary: 'One question is answered', value: example.embedSession },
          launched: {
            summary: 'From an LTI launch',
            value: {
              ...example.ltiProgress,
              items: example.embedProgress.items,
              revision: 12,
              attempt: 1,
              versionId: example.versionId,
            },
          },
        },
        noStore,
      ),
      400: failure('The lesson id is not a UUID, or the token is missing.'),
      404: nothingToPlay,
      429: busy,
    },
  },
  (deps: SessionLimits & { db: Database; lessons: PreparedLessons }) =>
    async ({ ctx, caller: token }) => {
      const version = await findTokenVersion(deps.db, token);
      const resources = await enterSession(deps, token, ctx.res);
      return { status: 200, body: await readSession(deps, token, version._id, resources) };
    },
);

const maxSessionBytes = 1024 ** 2;
const stale = 'The progress was changed since it was read';

/** POST …/session: records what a learner did. */
export const writePlayerSession = defineEndpoint(
  {
    ...sessionEndpoint,
    method: 'post',
    // Not in the audit log: the learner's progress record shows the writes.
    audit: null,
    operationId: 'writePlayerSession',
    summary: 'Record what the learner did',
    description:
      'Stores position, state and new answers, and returns the new session. The server computes status, scores and ' +
      'times. Send the latest `revision`; on 409, continue from `current`. With a `writeId`, it is safe to retry a ' +
      'write without a response. Launches that are not recorded store nothing: each write returns its own result, ' +
      'based on the `revision` that it was sent with.',
    body: {
      contentType: 'application/json',
      description: `At most 1 MiB, nested at most 200 deep, with at most ${maxJsonParts} objects, arrays and members of objects. Unknown fields are rejected.`,
      schema: progressWriteSchema,
      examples: {
        answer: {
          summary: 'A question is answered',
          value: {
            versionId: example.versionId,
            revision: 0,
            writeId: '7d1f0c52-3b6e-4a57-8c61-0a9a9d6f4e21',
            currentSectionIndex: 0,
            currentStepIndex: 1,
            progressData: example.embedProgress.progressData,
            variableState: example.embedProgress.variableState,
            items: [{ widgetId: example.item.widgetId, answer: example.item.answer }],
          },
        },
        completed: {
          summary: 'The lesson is finished, on its last step',
          value: {
            versionId: example.versionId,
            revision: 1,
            currentSectionIndex: 2,
            currentStepIndex: 2,
            completed: true,
          },
        },
      },
      failures: {},
    },
    responses: {
      200: json(
        'The stored session. A repeated `writeId` and a write of an earlier attempt change nothing.',
        session,
        { inProgress: { value: example.embedSession } },
        noStore,
      ),
      400: failure('The lesson id is not a UUID, or the token is missing.'),
      403: failure(
        'The token is for a different lesson than the one in the path, or it is a preview token.',
        otherLessonText,
        previewText,
      ),
      404: nothingToPlay,
      409: json(
        'The progress was changed since it was read: nothing was written.',
        staleSession,
        { stale: { value: { ...presentError('CONFLICT', stale), current: example.embedSession } } },
        noStore,
      ),
      413: failure(
        'The body is over 1 MiB or has too many parts, or the record would be too large.',
        tooLargeText(maxSessionBytes),
        tooManyPartsText,
        'Answers and state together may be at most 2097152 bytes, and would be 2101337',
      ),
      422: failure(
        'The body is not JSON sent as `application/json`, or a field is unknown or invalid.',
        'Request body must be valid JSON',
        'Request body has an unknown field "page"',
        tooManyStepTimesText,
        'versionId must be a UUID',
        'versionId must be a version of the lesson that was published',
        'versionId must be the version that the token names',
        'currentStepIndex must be a whole number of 0 or more',
        'completed is accepted on the last step only',
        'items[0].widgetId "Quiz-1" is not a widget of the version',
      ),
      429: busy,
    },
  },
  (deps: SessionLimits & WriteDependencies) =>
    async ({ ctx, caller: token }) => {
      assertNotPreview(token);
      const resources = await enterSession(deps, token, ctx.res);
      const write = await readWrite(ctx, resources);
      const { saved, session: stored } = await writeSession(deps, token, write, resources);
      if (saved) return { status: 200, body: stored };
      return { status: 409, body: { ...presentError('CONFLICT', stale), current: PrintedJson.of(stored) } };
    },
);

const contentQuery = playerQuerySchema.extend({
  versionId: z
    .guid('Invalid version ID')
    .toLowerCase()
    .optional()
    .meta({ description: 'The played version, if another one may have been published since.' }),
});

const contentUrlBody = z
  .strictObject({
    base: z.string().meta({
      description:
        'The base of `media/{mediaId}`, `widgets/{type}.js` and `widgets/{type}.css`: absolute if the service knows ' +
        'its public URL, otherwise a path.',
    }),
    expiresAt: time.meta({ description: 'The expiry, 60 to 90 minutes from now.' }),
    chunksUrl: z
      .string()
      .meta({ description: 'For the embed page: the path of the steps, which expires with `base`.' }),
    versionId: uuid.meta({ description: 'The version of the files.' }),
  })
  .meta({ id: 'ContentAddress' });

const contentMethods = 'GET, OPTIONS';

/** GET …/content: a signed base URL for media and widgets. */
export const getContentUrl = defineEndpoint(
  {
    method: 'get',
    path: '/api/public/lessons/:lessonId/content',
    access: { ...playerToken(contentMethods), headers: { ...limited, ...anyOrigin(contentMethods) } },
    errors: apiErrors(),
    params: lessonParams,
    query: contentQuery,
    operationId: 'getContentAddress',
    tag: 'Player',
    summary: 'Get a URL for all media and widgets',
    description:
      'Returns a signed URL for the media and widgets of one version, for pages that must not have the token. Request ' +
      'another one before it expires, with the played `versionId`.',
    responses: {
      200: json('The URL.', contentUrlBody, { address: { value: example.contentUrl } }, noStore),
      400: failure('An id is not a UUID, or the token is missing.'),
      404: nothingToPlay,
    },
  },
  (deps: ContentUrlDependencies & { db: Database }) =>
    async ({ caller: token, query }) => {
      const { _id: versionId, lessonId } = await findVersionInPlay(deps.db, token, query.versionId);
      const of = { lessonId, versionId };
      const { url, expiresAt } = contentUrl(deps, token, of);
      const body = {
        base: url,
        expiresAt: expiresAt.toISOString(),
        chunksUrl: chunksUrl(deps, token, of),
        versionId,
      };
      return { status: 200, body };
    },
);

async function readWrite(ctx: Context, { learner, texts }: SessionResources): Promise<ProgressWrite> {
  const body = await texts.receive({
    learner,
    announcedBytes: Math.min(Number(ctx.get('Content-Length')), maxSessionBytes),
    read: (onArrival) => readJsonBytes(ctx, { maxBytes: maxSessionBytes, onArrival }),
  });
  return texts.run(body.length, () => parseProgressWrite(jsonTextOf(body)));
}
