import { z } from 'zod';
import type { ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { mediaIdSchema, widgetFile } from '../../media/version-files.ts';
import { playerLessonId, playerQuerySchema } from '../../player/authorize.ts';
import { contentQuery } from '../../player/player.endpoints.ts';
import { contentAddress } from '../bodies.ts';
import * as example from '../examples.ts';
import {
  anyOrigin,
  asHeaders,
  fileHeaders,
  fileRequest,
  forPlayers,
  limited,
  noStore,
  requestId,
} from '../headers.ts';
import type { Headers } from '../headers.ts';
import { failures, jsonResponse, limitedFailures } from '../responses.ts';
import { open, withToken } from '../security.ts';
import { badToken, nothingToPlay, otherLesson } from './player.ts';

const methods = 'GET, HEAD, OPTIONS';
const common = forPlayers(methods);
const unexpected = { when: 'Something failed on the server.', texts: ['An unexpected error occurred'] };

const redirect: ZodOpenApiResponseObject = {
  description:
    'Where the file is: a signed address, good for 60 to 90 minutes by a token, and until it expires itself by a ' +
    'signed address.',
  headers: asHeaders({
    ...common,
    Location: z.string().meta({
      description: 'The signed address: absolute where the service knows its public address, else a path.',
      examples: [
        '/assets/v1/assets/cd15…ff77/73040/image/png/1619c428.png?expires=1795258800&signature=Zk3…',
      ],
    }),
    'Cache-Control': z
      .string()
      .regex(/^private, max-age=\d+$/)
      .meta({
        description:
          'The redirect may be kept for half an hour, and never for the last half hour of the address that it leads to.',
        examples: ['private, max-age=1800'],
      }),
  }),
};

const as = (text: z.ZodType<string>, description: string) => text.meta({ description });
const widgetFileName = z
  .string()
  .regex(widgetFile)
  .meta({ description: 'The type of the block, and `.js` or `.css`.', examples: ['MultipleChoice.js'] });

const content = z.strictObject({
  lessonId: as(z.guid(), 'The lesson.'),
  versionId: as(z.guid(), 'The version whose files it opens.'),
  expires: as(z.string().regex(/^[1-9]\d{0,10}$/), 'When the address ends: Unix time in seconds.'),
  signature: as(z.string().regex(/^[\w-]+$/), 'Of the whole address.'),
});
const badAddress = {
  when: 'The address is not one that this service has signed, or has expired.',
  texts: ['Invalid or expired signature'],
};

const asset = z.strictObject({
  area: as(z.enum(['assets', 'cache']), 'Where the file is kept.'),
  sha256: as(z.string().regex(/^[0-9a-f]{64}$/), 'The SHA-256 of the file, in hex.'),
  size: as(z.string().regex(/^(0|[1-9]\d{0,15})$/), 'Its size in bytes.'),
  type: as(z.string().min(1), 'Its media type, up to the slash.'),
  subtype: as(z.string().min(1), 'The rest of its media type.'),
  fileName: as(z.string().regex(/^[\w.-]+$/), 'Its name.'),
});
const signature = z.strictObject({
  expires: as(z.string().regex(/^[1-9]\d{0,10}$/), 'When the address ends: Unix time in seconds.'),
  signature: as(z.string().regex(/^[\w-]+$/), 'Of the whole address.'),
});

const assetCommon: Headers = {
  ...requestId,
  ...anyOrigin(methods),
  'Access-Control-Expose-Headers': z
    .literal('Accept-Ranges, Content-Length, Content-Range, ETag, Repr-Digest')
    .meta({ description: 'Headers that a page may read.' }),
  'Content-Security-Policy': z
    .string()
    .meta({ description: 'A file that is opened by itself runs nothing and asks for nothing.' }),
  'Cross-Origin-Resource-Policy': z
    .literal('cross-origin')
    .meta({ description: 'Pages that are isolated may show it, too.' }),
};
const known: Headers = {
  ...assetCommon,
  ...fileHeaders.known,
  'Cache-Control': z.string().meta({
    description: 'It may be kept until the address expires.',
    examples: ['public, max-age=5400, immutable'],
  }),
  'Content-Disposition': z
    .string()
    .optional()
    .meta({
      description: 'Sent with types that a browser would run or open in a program: they are downloaded.',
      examples: ['attachment; filename="1619c428-4d84-4e65-8c2b-8847b8aea3b0.pdf"'],
    }),
};
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
      'x-codeSamples': [
        {
          lang: 'Shell',
          source: [
            'curl -fL -o picture.png \\',
            '  "$LECTERN/api/public/lessons/$LESSON_ID/media/$MEDIA_ID?token=$TOKEN"',
          ].join('\n'),
        },
      ],
      security: withToken,
      requestParams: {
        path: z.object({ lessonId: playerLessonId, mediaId: mediaIdSchema }),
        query: playerQuerySchema,
      },
      responses: {
        302: redirect,
        ...limitedFailures(
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
          { ...common, ...noStore },
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
      'x-codeSamples': [
        {
          lang: 'Shell',
          source: [
            'curl -fL -o MultipleChoice.js \\',
            '  "$LECTERN/api/public/lessons/$LESSON_ID/widgets/MultipleChoice.js?token=$TOKEN"',
          ].join('\n'),
        },
      ],
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
        ...limitedFailures(
          {
            400: {
              when: 'The lesson id is no UUID, or the token or the file is missing.',
              texts: ['Invalid lesson ID', 'token is required', 'Widget file is required'],
            },
            401: badToken,
            403: otherLesson,
            404: {
              when: 'There is nothing to play, or the version uses no such widget, it has no such file, or its source does not give it.',
              texts: [...nothingToPlay.texts, 'Widget not found', 'Widget not available'],
            },
            500: unexpected,
          },
          { ...common, ...noStore },
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
            400: { when: 'The file is missing.', texts: ['Widget file is required'] },
            403: badAddress,
            404: {
              when: 'The version is not published any more, uses no such widget, it has no such file, or its source does not give it.',
              texts: [...nothingToPlay.texts, 'Widget not found', 'Widget not available'],
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
      'x-codeSamples': [
        {
          lang: 'Shell',
          source: [
            '# SIGNED_ADDRESS is the Location of a medium or a widget; where it begins with "/", put $LECTERN before it',
            'curl -f -H "Range: bytes=0-1023" -o part "$SIGNED_ADDRESS"',
          ].join('\n'),
        },
      ],
      security: open,
      requestParams: { path: asset, query: signature, header: fileRequest },
      responses: {
        200: {
          description: 'The file.',
          headers: asHeaders({ ...known, ...fileHeaders.whole }),
          content: file,
        },
        206: {
          description: 'The part that was asked for.',
          headers: asHeaders({ ...known, ...fileHeaders.part }),
          content: file,
        },
        304: { description: 'You have it: its ETag is in `If-None-Match`.', headers: asHeaders(known) },
        ...failures(
          {
            403: badAddress,
            404: {
              when: 'The file was evicted, because its organizations hold more than their share of the store. Ask again where the URL came from, and the file is put back.',
              texts: ['File not found'],
            },
            412: {
              when: 'None of the ETags in `If-Match` is that of the file.',
              texts: [`The file has changed: its ETag is now "${'2a3d'.repeat(16)}"`],
            },
            416: {
              when: 'The range lies outside the file.',
              texts: ['The file has 73040 bytes'],
              headers: fileHeaders.outside,
            },
            500: unexpected,
          },
          { ...assetCommon, ...noStore },
        ),
      },
    },
  },
};
