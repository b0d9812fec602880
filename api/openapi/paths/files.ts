import { z } from 'zod';
import type { ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { mediaIdSchema, widgetFile } from '../../assets/version-files.ts';
import { playerLessonId, playerQuerySchema } from '../../player/authorize.ts';
import { contentQuery } from '../../routes/player.ts';
import { contentAddress } from '../bodies.ts';
import * as example from '../examples.ts';
import { anyOrigin, asHeaders, limited, noStore, requestId } from '../headers.ts';
import type { Headers } from '../headers.ts';
import { failures, jsonResponse, limitedFailures } from '../responses.ts';
import { open, withToken } from '../security.ts';
import { badToken, nothingToPlay, otherLesson } from './player.ts';

const allowed = anyOrigin('GET, HEAD, OPTIONS');
const common = { ...limited, ...allowed };
const assetCommon = { ...requestId, ...allowed };
const unexpected = { when: 'Something failed on the server.', texts: ['An unexpected error occurred'] };

const redirect: ZodOpenApiResponseObject = {
  description:
    'Where the file is: a signed address, good for an hour or more, the same for all who ask in that hour.',
  headers: asHeaders({
    ...common,
    Location: z.string().meta({
      description: 'The signed address: absolute where the service knows its public address, else a path.',
      examples: [
        '/assets/v1/assets/cd15…ff77/73040/image/png/1619c428.png?expires=1795258800&signature=Zk3…',
      ],
    }),
    'Cache-Control': z.literal('private, max-age=1800'),
  }),
};

const widgetFileName = z
  .string()
  .regex(widgetFile)
  .meta({ description: 'The type of the block, and `.js` or `.css`.', examples: ['MultipleChoice.js'] });

const content = z.strictObject({
  lessonId: z.guid(),
  versionId: z.guid(),
  expires: z
    .string()
    .regex(/^[1-9]\d{0,10}$/)
    .meta({ description: 'Unix time in seconds.' }),
  signature: z.string().regex(/^[\w-]+$/),
});
const badAddress = {
  when: 'The address is not one that this service has signed, or has expired.',
  texts: ['Invalid or expired signature'],
};

const asset = z.strictObject({
  area: z.enum(['assets', 'cache']),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.string().regex(/^(0|[1-9]\d{0,15})$/),
  type: z.string().min(1),
  subtype: z.string().min(1),
  fileName: z.string().regex(/^[\w.-]+$/),
});
const signature = z.strictObject({
  expires: z
    .string()
    .regex(/^[1-9]\d{0,10}$/)
    .meta({ description: 'Unix time in seconds.' }),
  signature: z.string().regex(/^[\w-]+$/),
});
const range = z.strictObject({
  Range: z
    .string()
    .optional()
    .meta({ description: 'One range; of several the whole file is sent.', examples: ['bytes=0-1023'] }),
  'If-Range': z.string().optional().meta({ description: 'The ETag that the range is of.' }),
  'If-None-Match': z.string().optional().meta({ description: 'ETags that you have.' }),
});

const fileHeaders: Headers = {
  ...assetCommon,
  ETag: z.string().meta({ description: 'The SHA-256 of the whole file, in hex and quotes.' }),
  'Accept-Ranges': z.literal('bytes'),
  'Cache-Control': z.string().meta({ examples: ['public, max-age=5400, immutable'] }),
};
const length = { 'Content-Length': z.string().meta({ description: 'Bytes of the body.' }) };
const contentRange = { 'Content-Range': z.string().meta({ examples: ['bytes 0-1023/73040'] }) };
const file = { '*/*': { schema: { type: 'string' as const, format: 'binary' } } };

/** Media and widgets of a lesson, by a learner's token or a signed address, and the addresses that they lead to. */
export const filePaths: ZodOpenApiPathsObject = {
  '/api/public/lessons/{lessonId}/media/{mediaId}': {
    get: {
      operationId: 'getMedium',
      tags: ['Player'],
      summary: 'Find a medium',
      description:
        "Leads to the file of a medium, `media:<uuid>` in the lesson, of the token's version only. Media that live " +
        'elsewhere on the web come through Lectern: a learner meets no third party. Works as the `src` of an image, ' +
        'a sound or a video.',
      security: withToken,
      requestParams: {
        path: z.object({ lessonId: playerLessonId, mediaId: mediaIdSchema }),
        query: playerQuerySchema,
      },
      responses: {
        302: redirect,
        ...failures(
          {
            400: {
              when: 'An id is no UUID, or the token is missing.',
              texts: ['Invalid lesson ID', 'token is required', 'Invalid media ID'],
            },
            401: badToken,
            403: otherLesson,
            404: {
              when: 'There is nothing to play, the version has no such medium, or its file cannot be had now.',
              texts: [...nothingToPlay.texts, 'Media file not found', 'Media file not available'],
            },
            500: unexpected,
          },
          { ...assetCommon, ...noStore },
        ),
      },
    },
  },
  '/api/public/lessons/{lessonId}/widgets/{file}': {
    get: {
      operationId: 'getWidgetFile',
      tags: ['Player'],
      summary: 'Find a file of a widget',
      description:
        'Leads to the ES module (`<type>.js`) or the stylesheet (`<type>.css`) of a type of block, in the release ' +
        'that publishing the version has pinned.',
      security: withToken,
      requestParams: {
        path: z.object({
          lessonId: playerLessonId,
          file: widgetFileName,
        }),
        query: playerQuerySchema,
      },
      responses: {
        302: redirect,
        ...failures(
          {
            400: {
              when: 'The lesson id is no UUID, or the token is missing.',
              texts: ['Invalid lesson ID', 'token is required'],
            },
            401: badToken,
            403: otherLesson,
            404: {
              when: 'There is nothing to play, or the version uses no such widget, or it has no such file.',
              texts: [...nothingToPlay.texts, 'Widget not found'],
            },
            500: unexpected,
          },
          { ...assetCommon, ...noStore },
        ),
      },
    },
  },
  '/api/public/lessons/{lessonId}/content': {
    get: {
      operationId: 'getContentAddress',
      tags: ['Player'],
      summary: 'Get an address for all media and widgets',
      description:
        'A signed address that opens the media and widgets of one version without the token, for pages that must not ' +
        'have it. Ask again before it expires, with the `versionId` that is played.',
      security: withToken,
      requestParams: { path: z.object({ lessonId: playerLessonId }), query: contentQuery },
      responses: {
        200: jsonResponse(
          'The address.',
          contentAddress,
          { ...limited, ...anyOrigin('GET, OPTIONS'), ...noStore },
          { address: { value: example.contentAddress } },
        ),
        ...limitedFailures(
          {
            400: {
              when: 'An id is no UUID, or the token is missing.',
              texts: ['Invalid lesson ID', 'token is required', 'Invalid version ID'],
            },
            401: badToken,
            403: otherLesson,
            404: nothingToPlay,
            500: unexpected,
          },
          { ...limited, ...anyOrigin('GET, OPTIONS') },
        ),
      },
    },
  },
  '/content/v1/{lessonId}/{versionId}/{expires}/{signature}/media/{mediaId}': {
    get: {
      operationId: 'getContentMedium',
      tags: ['Player'],
      summary: 'Find a medium by a signed address',
      description:
        'As by a token, for whoever has the address of a version from `GET /api/public/lessons/{lessonId}/content`. ' +
        'It names no learner, and opens nothing but media and widgets of that version.',
      security: open,
      requestParams: { path: content.extend({ mediaId: mediaIdSchema }) },
      responses: {
        302: redirect,
        ...limitedFailures(
          {
            400: { when: 'The id of the medium is no UUID.', texts: ['Invalid media ID'] },
            403: badAddress,
            404: {
              when: 'The version is not published any more, has no such medium, or its file cannot be had now.',
              texts: [...nothingToPlay.texts, 'Media file not found', 'Media file not available'],
            },
            500: unexpected,
          },
          { ...common, ...noStore },
        ),
      },
    },
  },
  '/content/v1/{lessonId}/{versionId}/{expires}/{signature}/widgets/{file}': {
    get: {
      operationId: 'getContentWidgetFile',
      tags: ['Player'],
      summary: 'Find a file of a widget by a signed address',
      description: 'As by a token, with the address that also opens the media of the version.',
      security: open,
      requestParams: { path: content.extend({ file: widgetFileName }) },
      responses: {
        302: redirect,
        ...limitedFailures(
          {
            403: badAddress,
            404: {
              when: 'The version is not published any more, uses no such widget, or it has no such file.',
              texts: [...nothingToPlay.texts, 'Widget not found'],
            },
            500: unexpected,
          },
          { ...common, ...noStore },
        ),
      },
    },
  },
  '/assets/v1/{area}/{sha256}/{size}/{type}/{subtype}/{fileName}': {
    get: {
      operationId: 'getAsset',
      tags: ['Player'],
      summary: 'Fetch a file',
      description:
        'A file by its signed address. Take the address as it was given: nothing in it can be changed. It needs no ' +
        'token, ends at `expires`, and answers one `Range`.',
      security: open,
      requestParams: { path: asset, query: signature, header: range },
      responses: {
        200: { description: 'The file.', headers: asHeaders({ ...fileHeaders, ...length }), content: file },
        206: {
          description: 'The part that was asked for.',
          headers: asHeaders({ ...fileHeaders, ...length, ...contentRange }),
          content: file,
        },
        304: {
          description: 'You have it: the ETag is one of `If-None-Match`.',
          headers: asHeaders(fileHeaders),
        },
        ...failures(
          {
            403: badAddress,
            404: { when: 'The file is not there any more.', texts: ['File not found'] },
            416: {
              when: 'The range lies outside the file.',
              texts: ['The file has 73040 bytes'],
              headers: contentRange,
            },
            500: unexpected,
          },
          { ...assetCommon, ...noStore },
        ),
      },
    },
  },
};
