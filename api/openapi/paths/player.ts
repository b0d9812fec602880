import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { progressWriteSchema } from '../../../shared/progress/write.ts';
import { playerLessonId, playerQuerySchema } from '../../player/authorize.ts';
import { playerDataQuery } from '../../player/player.endpoints.ts';
import { playerData, session, staleSession } from '../bodies.ts';
import * as example from '../examples.ts';
import { forPlayers, noStore } from '../headers.ts';
import type { Failure } from '../responses.ts';
import { jsonResponse, limitedFailures } from '../responses.ts';
import { withToken } from '../security.ts';

export const badToken: Failure = {
  when: 'The token is expired, revoked, not signed by this service, or no token at all.',
  texts: [
    'Token expired',
    'Invalid signature',
    'Malformed token',
    'Invalid issuer',
    'Token revoked',
    'Signing secret not configured',
  ].map((reason) => `Token verification failed: ${reason}`),
};
export const otherLesson: Failure = {
  when: 'The token is for another lesson than the path names.',
  texts: ['Token does not grant access to this lesson'],
};
export const nothingToPlay: Failure = {
  when:
    "The lesson does not exist, is deleted or another organization's, or nothing is published: no version, or the " +
    'pinned one no more.',
  texts: ['Lesson not found or access denied'],
};

const previewRecordsNothing: Failure = {
  when: 'The token is for another lesson than the path names, or it is a preview token.',
  texts: [...otherLesson.texts, 'A preview token records nothing'],
};

const path = z.object({ lessonId: playerLessonId });
const dataHeaders = forPlayers('GET, OPTIONS');
const sessionHeaders = forPlayers('GET, POST, OPTIONS');
const sessionUnexpected = {
  when: 'Something failed on the server.',
  texts: ['An unexpected error occurred'],
};
const sessionBusy: Failure = {
  when:
    'The limit of requests a minute is reached, too many requests of this learner are under way, or too much of the ' +
    'organization. Send it again after `Retry-After` seconds.',
  texts: [
    'Too many requests; try again in 42 seconds',
    'Too many concurrent requests from this learner; try again in 2 seconds',
    'Too much data requested at once; try again in 5 seconds',
    'Too much data sent at once by this learner; try again in 5 seconds',
  ],
};
const embedSession = { ...example.embedProgress, revision: 1, attempt: 1, versionId: example.versionId };

/** What a player asks for with a learner's token: the lesson, and the session that it goes on from and records. */
export const playerPaths: ZodOpenApiPathsObject = {
  '/api/public/lessons/{lessonId}/player-data': {
    get: {
      operationId: 'getPlayerData',
      tags: ['Player'],
      summary: 'Load a lesson',
      description:
        'The lesson that the token names, in the version that it pins, else in the one that was published last. Pages ' +
        'of every origin may load it: `OPTIONS` is answered, and no cookie counts. The content holds the right ' +
        'answers, as a player needs them.',
      security: withToken,
      requestParams: { path, query: playerDataQuery },
      responses: {
        200: jsonResponse(
          'The lesson.',
          playerData,
          { ...dataHeaders, ...noStore },
          {
            lesson: {
              summary: 'As asked for without options',
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
        ),
        ...limitedFailures(
          {
            400: {
              when: 'The lesson id is no UUID, the token is missing, or an option is neither true nor false.',
              texts: [
                'Invalid lesson ID',
                'token is required',
                'include_metadata must be true or false',
                'validate_playability must be true or false',
              ],
            },
            401: badToken,
            403: otherLesson,
            404: nothingToPlay,
            422: {
              when: 'The lesson cannot be played, and `validate_playability` is not false.',
              texts: ['Lesson has validation errors that prevent playback'],
            },
            500: {
              when: 'Something failed on the server.',
              texts: ['An unexpected error occurred while fetching lesson data'],
            },
          },
          dataHeaders,
        ),
      },
    },
  },
  '/api/public/lessons/{lessonId}/session': {
    get: {
      operationId: 'getPlayerSession',
      tags: ['Player'],
      summary: "Read the learner's session",
      description:
        'Where the learner goes on. Before anything is stored: revision 0, `not_started`, and nothing is created. ' +
        'When another version was published since, the position and the answers are carried over to it, and the ' +
        'answers earn what that version gives. A launch that is not recorded, of a teacher or of somebody whom the ' +
        'platform does not name, is at revision 0 always; so is a preview, whose `learnerId` is empty.',
      security: withToken,
      requestParams: { path, query: playerQuerySchema },
      responses: {
        200: jsonResponse(
          'The session.',
          session,
          { ...sessionHeaders, ...noStore },
          {
            notStarted: {
              summary: 'Nothing is stored yet',
              value: { ...example.notStarted, revision: 0, attempt: 1, versionId: example.versionId },
            },
            inProgress: { summary: 'One question is answered', value: embedSession },
            launched: {
              summary: 'Of an LTI launch',
              value: {
                ...example.ltiProgress,
                items: example.embedProgress.items,
                revision: 12,
                attempt: 1,
                versionId: example.versionId,
              },
            },
          },
        ),
        ...limitedFailures(
          {
            400: {
              when: 'The lesson id is no UUID, or the token is missing.',
              texts: ['Invalid lesson ID', 'token is required'],
            },
            401: badToken,
            403: otherLesson,
            404: nothingToPlay,
            429: sessionBusy,
            500: sessionUnexpected,
          },
          sessionHeaders,
        ),
      },
    },
    post: {
      operationId: 'writePlayerSession',
      tags: ['Player'],
      summary: 'Record what the learner did',
      description:
        'Stores position, state and new answers, and answers with the session as it is then. The server derives ' +
        'status, scores and times. Send the `revision` that was read last; on 409 go on from `current`. A `writeId` ' +
        'makes it safe to send a write again whose answer was lost. Of a launch that is not recorded nothing is ' +
        'stored: each write is answered with what it leads to by itself, at the `revision` that it was sent with.',
      security: withToken,
      requestParams: { path, query: playerQuerySchema },
      requestBody: {
        required: true,
        description: 'At most 1 MiB, nested at most 200 deep. Unknown fields are refused.',
        content: {
          'application/json': {
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
          },
        },
      },
      responses: {
        200: jsonResponse(
          'The session as it is stored now; for a repeated `writeId` as that write, or a later one, left it. A write of an ' +
            'earlier attempt than the stored one changes nothing.',
          session,
          { ...sessionHeaders, ...noStore },
          { inProgress: { value: embedSession } },
        ),
        409: jsonResponse(
          'The progress was changed since it was read: nothing was written.',
          staleSession,
          { ...sessionHeaders, ...noStore },
          {
            stale: {
              value: { error: 'The progress was changed since it was read', current: embedSession },
            },
          },
        ),
        ...limitedFailures(
          {
            400: {
              when: 'The lesson id is no UUID, or the token is missing.',
              texts: ['Invalid lesson ID', 'token is required'],
            },
            401: badToken,
            403: previewRecordsNothing,
            404: nothingToPlay,
            413: {
              when: 'The body is over 1 MiB, or all that would be stored is too much.',
              texts: [
                'Request body must be at most 1048576 bytes',
                'Answers and state together may be at most 2097152 bytes, and would be 2101337',
              ],
            },
            422: {
              when: 'The body is no JSON sent as `application/json`, or a field is unknown or not as it has to be.',
              texts: [
                'Request body must be valid JSON',
                'Request body has an unknown field "page"',
                'versionId must be a UUID',
                'versionId must be a version of the lesson that was published',
                'versionId must be the version that the token names',
                'currentStepIndex must be a whole number of 0 or more',
                'completed is accepted on the last step only',
                'items[0].widgetId "Quiz-1" is no widget of the version',
              ],
            },
            429: sessionBusy,
            500: sessionUnexpected,
          },
          sessionHeaders,
        ),
      },
    },
  },
};
