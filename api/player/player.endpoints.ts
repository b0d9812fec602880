import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { maxJsonParts } from '../../shared/platform/json-text.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import {
  parseProgressWrite,
  progressWriteSchema,
  tooManyStepTimesText,
} from '../../shared/progress/write.ts';
import { failure, json, time, uuid } from '../http/responses.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { apiErrors, textErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { busy } from '../http/request-limits.ts';
import type { RequestLimits } from '../http/request-limits.ts';
import { anyOrigin, encoded, limited, noStore } from '../http/headers.ts';
import { readJsonBody, tooManyPartsText } from '../http/middleware/json-body.ts';
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
  learnerName,
} from './authorize.ts';
import { playerData, session } from './bodies.ts';
import { chunksUrl, contentUrl } from './content-url.ts';
import type { ContentUrlDependencies } from './content-url.ts';
import { playerDataOptions, sendPlayerData } from './player-data.ts';
import type { PlayerDataDependencies } from './player-data.ts';
import { readSession, writeSession } from './session.ts';
import type { WriteDependencies } from './session.ts';

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
  (deps: PlayerDataDependencies & { db: Database; lessons: Pick<PreparedLessons, 'knownFacts'> }) =>
    async ({ ctx, caller: token, query }) => {
      const version = await findTokenVersion(deps.db, token);
      const facts = await deps.lessons.knownFacts(version._id);
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

/** GET …/session: where the learner continues. */
export const getPlayerSession = defineEndpoint(
  {
    ...sessionEndpoint,
    method: 'get',
    operationId: 'getPlayerSession',
    summary: "Read the learner's session",
    description:
      'Returns where the learner continues. Before the first write, the session is `not_started`, and nothing is ' +
      'created. If another version was published since, position and answers are carried over to it, and the answers ' +
      "earn that version's points. Launches that are not recorded, of teachers and of users that the platform does " +
      'not identify, always begin at the first step; so do previews, whose `learnerId` is empty.',
    responses: {
      200: json(
        'The session.',
        session,
        {
          notStarted: {
            summary: 'Nothing is stored yet',
            value: {
              ...example.notStarted,
              attempt: 1,
              attemptCompleted: false,
              versionId: example.versionId,
            },
          },
          inProgress: { summary: 'One question is answered', value: example.embedSession },
          launched: {
            summary: 'From an LTI launch',
            value: {
              ...example.ltiProgress,
              items: example.embedProgress.items,
              attempt: 1,
              attemptCompleted: true,
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
  (deps: { requestLimits: RequestLimits; db: Database; lessons: PreparedLessons }) =>
    async ({ ctx, caller: token }) => {
      await deps.requestLimits.enterLearner(learnerName(token), token.organizationId, ctx);
      const version = await findTokenVersion(deps.db, token);
      return { status: 200, body: await readSession(deps, token, version._id) };
    },
);

const maxSessionBytes = 256 * 1024;

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
      'Merges position, state and new answers into the record, and returns the merged session. Of two devices, the ' +
      'newer value of each answer and variable stays, in whatever order they arrive; a right answer stays, too. The ' +
      'server computes status, scores and times. With a `writeId`, it is safe to retry a write without a response. ' +
      'Launches that are not recorded store nothing: each write returns its own result.',
    body: {
      contentType: 'application/json',
      description: `At most 256 KiB, nested at most 200 deep, with at most ${maxJsonParts} objects, arrays and members of objects. Unknown fields are rejected.`,
      schema: progressWriteSchema,
      examples: {
        answer: {
          summary: 'A question is answered',
          value: {
            versionId: example.versionId,
            writeId: '7d1f0c52-3b6e-4a57-8c61-0a9a9d6f4e21',
            currentSectionIndex: 0,
            currentStepIndex: 1,
            progressData: example.embedProgress.progressData,
            variableState: example.embedProgress.variableState,
            items: [
              {
                ...{ stepId: example.item.stepId, widgetId: example.item.widgetId },
                ...{ answer: example.item.answer, ageMs: 1500 },
              },
            ],
          },
        },
        completed: {
          summary: 'The lesson is finished',
          value: {
            versionId: example.versionId,
            currentSectionIndex: 2,
            currentStepIndex: 2,
            completed: true,
          },
        },
      },
      failures: {},
    },
    responses: {
      200: json('The merged session.', session, { inProgress: { value: example.embedSession } }, noStore),
      400: failure('The lesson id is not a UUID, or the token is missing.'),
      403: failure(
        'The token is for a different lesson than the one in the path, or it is a preview token.',
        otherLessonText,
        previewText,
      ),
      404: nothingToPlay,
      413: failure(
        'The body is over 256 KiB or has too many parts, an answer is over 64 KiB, or the record would be over 1 MiB.',
        tooLargeText(maxSessionBytes),
        tooManyPartsText,
        'Answers and state together may be at most 1048576 bytes, and would be 1052337',
        'items[0].answer may be at most 65536 bytes, and is 70012',
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
        'items[0].stepId "step-9" is not a step of the version',
        'items[0].widgetId "Quiz-1" is not a widget of the step "step-1"',
        'restart is accepted 999 times',
      ),
      429: busy,
    },
  },
  (deps: WriteDependencies & { requestLimits: RequestLimits }) =>
    async ({ ctx, caller: token }) => {
      assertNotPreview(token);
      const arrivedAt = new Date();
      await deps.requestLimits.enterLearner(learnerName(token), token.organizationId, ctx);
      const write = parseProgressWrite(await readJsonBody(ctx, { maxBytes: maxSessionBytes }));
      return { status: 200, body: await writeSession(deps, token, { ...write, arrivedAt }) };
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
