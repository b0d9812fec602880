import { z } from 'zod';
import type { ZodOpenApiPathsObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { failureCodes } from '../../embed/page-words.ts';
import { playerLessonId } from '../../player/authorize.ts';
import { oembedQuery } from '../../embed/oembed.endpoints.ts';
import { oembed } from '../bodies.ts';
import * as example from '../examples.ts';
import { anyOrigin, asHeaders, challenge, limited, noStore, requestId, retryAfter } from '../headers.ts';
import type { Headers } from '../headers.ts';
import { failures, jsonResponse, limitedFailures } from '../responses.ts';
import { open, withOrWithoutToken } from '../security.ts';

const unexpected = { when: 'Something failed on the server.', texts: ['An unexpected error occurred'] };

const pageHeaders: Headers = {
  ...limited,
  ...noStore,
  'Content-Security-Policy': z.string().meta({
    description:
      "What the page may do, and in `frame-ancestors` whose pages may have it in a frame: the organization's.",
  }),
  'Referrer-Policy': z.literal('no-referrer'),
};
const pageOf = (description: string, headers: Headers = {}) => ({
  description,
  headers: asHeaders({ ...pageHeaders, ...headers }),
  content: { 'text/html': { schema: { type: 'string' as const } } },
});

const failurePages: ZodOpenApiResponsesObject = {
  400: pageOf('A page: `bad_address`. The lesson id is no UUID, or the token is empty or given twice.'),
  401: pageOf('A page: `token_expired`, `token_invalid` or `token_revoked`.', challenge),
  403: pageOf('A page: `wrong_lesson`. The token is for another lesson.'),
  404: pageOf('A page: `not_available`. There is nothing to play.'),
  422: pageOf('A page: `not_playable`. The lesson is not finished.'),
  429: pageOf('A page: `too_many_requests`.', retryAfter),
  500: pageOf('A page: `server_error`.'),
};

const fileHeaders: Headers = {
  ...requestId,
  ...anyOrigin('GET, HEAD, OPTIONS'),
  ETag: z.string(),
  Vary: z.string().meta({ examples: ['Accept-Encoding'] }),
  'Cache-Control': z.string().meta({ examples: ['public, max-age=31536000, immutable'] }),
};
const script = { 'text/javascript': { schema: { type: 'string' as const } } };
const notModified = {
  description: 'You have it: the ETag is one of `If-None-Match`.',
  headers: asHeaders(fileHeaders),
};
const fileFailures = (text: string) =>
  failures(
    { 404: { when: text, texts: ['File not found'] }, 500: unexpected },
    { ...requestId, ...anyOrigin('GET, HEAD, OPTIONS') },
  );

/** The page with which lessons are embedded, and what it is made of. */
export const embedPaths: ZodOpenApiPathsObject = {
  '/embed/{lessonId}': {
    get: {
      operationId: 'getEmbedPage',
      tags: ['Embedding'],
      summary: 'Play a lesson',
      description:
        'A page for a frame: it plays the lesson that the token names and records the progress. What keeps it from ' +
        `that is said on the page, in the learner's language, with a code for support (${failureCodes.join(', ')}). ` +
        'Without a token the page waits for one from the page around it. No cookie counts.',
      security: withOrWithoutToken,
      requestParams: {
        path: z.object({ lessonId: playerLessonId }),
        query: z.object({ token: z.string().optional().meta({ description: 'The JWT of the learner.' }) }),
      },
      responses: { 200: pageOf('The page.'), ...failurePages },
    },
  },
  '/embed.js': {
    get: {
      operationId: 'getEmbedScript',
      tags: ['Embedding'],
      summary: 'Fetch the script for pages that embed lessons',
      description: 'Its address stays the same; an upgrade of the service may bring another version of it.',
      security: open,
      responses: {
        200: { description: 'The script.', headers: asHeaders(fileHeaders), content: script },
        304: notModified,
        ...fileFailures('It is not built.'),
      },
    },
  },
  '/oembed': {
    get: {
      operationId: 'getOembed',
      tags: ['Embedding'],
      summary: 'Describe an embed page',
      description:
        'oEmbed 1.0, for sites that turn links into frames. The frame has no token in it, and the answer is the same ' +
        'for every lesson id: whether there is such a lesson is not told.',
      security: open,
      requestParams: { query: oembedQuery },
      responses: {
        200: jsonResponse(
          'A frame for the page.',
          oembed,
          {
            ...limited,
            ...anyOrigin('GET, OPTIONS'),
            'Cache-Control': z.enum(['public, max-age=3600', 'private, max-age=3600']).meta({
              description: '`public` where the operator has set PUBLIC_URL.',
            }),
          },
          { frame: { value: example.oembed } },
        ),
        ...limitedFailures(
          {
            400: {
              when: 'A parameter is missing, or not as it has to be.',
              texts: ['url is required', 'maxwidth must be a whole number above 0'],
            },
            404: {
              when: 'The address is not one of an embed page of this service.',
              texts: ['url is not the address of an embed page'],
            },
            500: unexpected,
            501: { when: 'Another format is asked for.', texts: ['Only format=json is available'] },
          },
          { ...limited, ...anyOrigin('GET, OPTIONS') },
        ),
      },
    },
  },
  '/player/{release}/{file}': {
    get: {
      operationId: 'getPlayerFile',
      tags: ['Embedding'],
      summary: 'Fetch a file of the player',
      description:
        'A file of the release of the player that this service has. What is there once never changes, except the ' +
        'policy of `frame.html`, which is kept for an hour; another release has another name.',
      security: open,
      requestParams: {
        path: z.object({
          release: z
            .string()
            .meta({ description: 'The release of the player.', examples: ['0.1.0-5f3a9c21'] }),
          file: z.string().meta({ description: 'The name of the file.', examples: ['player.js'] }),
        }),
      },
      responses: {
        200: {
          description: 'The file.',
          headers: asHeaders(fileHeaders),
          content: { '*/*': { schema: { type: 'string' } } },
        },
        304: notModified,
        ...fileFailures('The service has another release, or it has no such file.'),
      },
    },
  },
};
