import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { signTokenSchema } from '../../../shared/tokens/sign-token-request.ts';
import { embedProgressPath, ltiProgressPath, ltiProgressQuery } from '../../progress/progress.endpoints.ts';
import { embedProgress, ltiProgress, signedToken } from '../bodies.ts';
import * as example from '../examples.ts';
import { limited, noStore } from '../headers.ts';
import { badCredentials, jsonResponse, limitedFailures } from '../responses.ts';
import { withCredentials } from '../security.ts';

const noProgress = {
  when:
    'No such lesson in your organization, no such platform, or the learner has not started the lesson: there is ' +
    'no record.',
  texts: ['No progress found for this learner and lesson'],
};
const unexpected = { when: 'Something failed on the server.', texts: ['Failed to fetch progress data'] };

/** What integrators' servers ask for: tokens, and learners' progress. */
export const integratorPaths: ZodOpenApiPathsObject = {
  '/api/public/sign-token': {
    post: {
      operationId: 'signToken',
      tags: ['Tokens'],
      summary: 'Sign an embed token',
      description:
        'Makes a JWT with which one learner loads one lesson. Its claims are `lessonId`, `versionId` (when given), ' +
        '`learnerId`, `organizationId`, `userAttributes`, `iat`, `exp` and `iss` ("lectern"). A lesson without a ' +
        'published version can be signed; loading it is 404 until one is published.',
      security: withCredentials,
      requestBody: {
        required: true,
        description:
          'At most 64 KiB. Unknown fields are ignored. The first fault in the order of the fields is told.',
        content: {
          'application/json': {
            schema: signTokenSchema,
            examples: {
              newest: {
                summary: 'The newest published version, for two hours',
                value: { lessonId: example.lessonId, learnerId: example.learnerId },
              },
              pinned: {
                summary: 'A pinned version, with attributes, for 15 minutes',
                value: {
                  lessonId: example.lessonId,
                  versionId: example.versionId,
                  learnerId: example.learnerId,
                  userAttributes: example.userAttributes,
                  timeout: 900,
                },
              },
            },
          },
        },
      },
      responses: {
        200: jsonResponse(
          'The token.',
          signedToken,
          { ...limited, ...noStore },
          {
            token: { value: { token: example.token, expiresAt: '2026-11-21T11:12:04.000Z' } },
          },
        ),
        ...limitedFailures(
          {
            401: badCredentials,
            404: {
              when: "The lesson does not exist, is deleted or another organization's, or has no such published version.",
              texts: ['Lesson not found or does not belong to your organization'],
            },
            413: { when: 'The body is over 64 KiB.', texts: ['Request body must be at most 65536 bytes'] },
            422: {
              when: 'The body is no JSON object in UTF-8 sent as `application/json`, or a field is not as it has to be.',
              texts: [
                'Request body must be valid JSON',
                'Request body must be a JSON object',
                'Lesson ID must be a UUID',
                'Version ID must be a UUID',
                'learnerId is required',
                'learnerId must be 1 to 255 characters without control characters',
                'userAttributes must be an object',
                'userAttributes must be at most 8192 bytes as JSON',
                'timeout must be an integer between 1 and 86400',
              ],
            },
            500: {
              when: 'Something failed on the server, or it has no signing secret.',
              texts: ['Failed to generate token'],
            },
          },
          limited,
        ),
      },
    },
  },
  '/api/public/lessons/{lessonId}/progress/{learnerId}': {
    get: {
      operationId: 'getProgress',
      tags: ['Progress'],
      summary: "Read a learner's progress",
      description:
        'The record of a learner whose lessons are embedded with tokens. It is there once the player has written for ' +
        'the first time. JSON values come back as they were stored.',
      security: withCredentials,
      requestParams: { path: embedProgressPath },
      responses: {
        200: jsonResponse(
          'The record.',
          embedProgress,
          { ...limited, ...noStore },
          {
            inProgress: { summary: 'One question is answered', value: example.embedProgress },
          },
        ),
        ...limitedFailures(
          {
            401: badCredentials,
            404: noProgress,
            422: {
              when: 'An id in the path is not as it has to be.',
              texts: [
                'Invalid lesson ID format',
                'learnerId must be 1 to 255 characters without control characters',
              ],
            },
            500: unexpected,
          },
          limited,
        ),
      },
    },
  },
  '/api/public/lessons/{lessonId}/lti-progress/{ltiUserId}': {
    get: {
      operationId: 'getLtiProgress',
      tags: ['Progress'],
      summary: "Read an LTI user's progress",
      description:
        'The record of a user who launches the lesson from an LTI platform. Scores are out of 100. Teachers who ' +
        'look at a lesson have none, nor have users whom the platform does not name.',
      security: withCredentials,
      requestParams: { path: ltiProgressPath, query: ltiProgressQuery },
      responses: {
        200: jsonResponse(
          'The record.',
          ltiProgress,
          { ...limited, ...noStore },
          {
            completed: { summary: 'The lesson is completed', value: example.ltiProgress },
          },
        ),
        ...limitedFailures(
          {
            401: badCredentials,
            404: noProgress,
            422: {
              when: 'A parameter is missing or not as it has to be.',
              texts: [
                'Invalid lesson ID format',
                'ltiUserId must be 1 to 255 characters without control characters',
                'platformId is required',
                'platformId must be 1 to 255 characters without control characters',
                'contextId must be given once, and must not be empty',
                'contextId must be 1 to 255 characters without control characters',
              ],
            },
            500: unexpected,
          },
          limited,
        ),
      },
    },
  },
};
