import { z } from 'zod';
import type { ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { exportPath, exportQuery } from '../../exports/authorize.ts';
import { exportManifest, exportStatus } from '../export-bodies.ts';
import * as example from '../export-examples.ts';
import { asHeaders, fileHeaders, fileRequest, limited, noStore, retryAfter } from '../headers.ts';
import type { Headers } from '../headers.ts';
import { exportFailures, jsonResponse } from '../responses.ts';
import { withCredentials } from '../security.ts';

const known = {
  ...limited,
  ...fileHeaders.known,
  'Content-Disposition': z.string().meta({
    description: 'The file name, from the slug of the lesson and the number of the version.',
    examples: ['attachment; filename="how-tides-work-v1.zip"'],
  }),
};
const archive = { 'application/zip': { schema: { type: 'string' as const, format: 'binary' } } };

const preference = z.strictObject({
  Prefer: z
    .string()
    .optional()
    .meta({
      description: '`respond-async`: answer with 202 instead of waiting for a build (RFC 7240).',
      examples: ['respond-async'],
    }),
});

/** Where an export stands; the status of the same version, in the same profile. */
const accepted: ZodOpenApiResponseObject = jsonResponse(
  'With `Prefer: respond-async`: there is no archive yet. It is built now; `Location` says how far it is.',
  exportStatus,
  {
    ...limited,
    ...noStore,
    ...retryAfter,
    Location: z.string().meta({
      description: 'The address of the export’s status.',
      examples: ['https://lessons.example/api/lessons/b2c3…/versions/45ef…/export-status'],
    }),
    'Preference-Applied': z.literal('respond-async').meta({ description: 'What was heeded.' }),
  },
  { queued: { summary: 'It waits its turn', value: example.queued } },
);

/** Refusals that all addresses of an export have. */
const refusals = {
  400: {
    when: 'An id in the path is no UUID, or `include` is something else than `player`.',
    texts: ['Invalid lesson ID', 'Invalid version ID', 'include must be "player", or be left out'],
  },
  401: {
    when: 'The credentials are missing, malformed, unknown, revoked or expired.',
    texts: ['User authentication is required'],
  },
  403: {
    when: "The organization's plan does not include export.",
    texts: ['Export is not available on your plan'],
  },
  404: {
    when: "The lesson or the version does not exist, is deleted or another organization's, or is not published.",
    texts: ['Published version not found'],
  },
  422: {
    when: 'The content cannot be played; the message says what is wrong.',
    texts: ['The lesson cannot be exported: Section 2 ("Tides") has no steps'],
  },
  500: {
    when: 'A server does not answer.',
    texts: ['An unexpected error occurred while generating the export'],
  },
};

/** Those of addresses that need the archive. */
const buildRefusals = {
  ...refusals,
  422: {
    when: 'The content cannot be played, or the archive would be too large; the message says what.',
    texts: [...refusals[422].texts, 'The archive would be larger than the limit of 8589934592 bytes.'],
  },
  500: {
    when: 'The build failed, is not ready in time, or a server does not answer.',
    texts: [
      ...refusals[500].texts,
      'The archive is not ready in time: no worker is running. The export stays in the queue.',
    ],
  },
};

const curl = (source: string[]) => [{ lang: 'Shell', source: source.join('\n') }];
const statusHeaders: Headers = {
  ...limited,
  ...noStore,
  Vary: z.literal('Accept').meta({ description: 'Answers differ by what is accepted.' }),
};

/** Published versions: as one archive, or file by file. */
export const exportPaths: ZodOpenApiPathsObject = {
  '/api/lessons/{lessonId}/versions/{versionId}/export-zip': {
    get: {
      operationId: 'exportZip',
      tags: ['Export'],
      summary: 'Download a published version',
      description:
        'One ZIP with the lesson, its media and its widgets: `lesson.json`, `manifest.json`, `media/` and `widgets/` ' +
        'in one folder; with `include=player` also `index.html` and `player/`, which play the lesson. The first ' +
        'request for a version waits while its archive is built, up to five minutes unless the operator has set ' +
        'another limit; later ones get the stored file, the same byte for byte. A file that cannot be had never ' +
        'fails the export: `failedMedia` and `failedWidgets` of manifest.json name it.\n\n' +
        'A download that was cut off goes on with `Range` and `If-Range`. `If-None-Match` with the `ETag` of your ' +
        'copy asks whether there is another archive by now.',
      'x-codeSamples': curl([
        'curl -fOJ "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-zip" \\',
        '  -H "Authorization: Bearer $CREDENTIALS"',
      ]),
      security: withCredentials,
      requestParams: {
        path: exportPath,
        query: exportQuery,
        header: fileRequest.extend(preference.shape),
      },
      responses: {
        200: {
          description: 'The archive.',
          headers: asHeaders({ ...known, ...fileHeaders.whole }),
          content: archive,
        },
        202: accepted,
        206: {
          description: 'The part of the archive that was asked for.',
          headers: asHeaders({ ...known, ...fileHeaders.part }),
          content: archive,
        },
        304: { description: 'You have it: its ETag is in `If-None-Match`.', headers: asHeaders(known) },
        ...exportFailures(
          {
            ...buildRefusals,
            412: {
              when: 'None of the ETags in `If-Match` is that of the archive.',
              texts: [`The file has changed: its ETag is now "${'2a3d'.repeat(16)}"`],
            },
            416: {
              when: 'The range lies outside of the archive.',
              texts: ['The file has 877201 bytes'],
              headers: fileHeaders.outside,
            },
          },
          limited,
        ),
      },
    },
  },
  '/api/lessons/{lessonId}/versions/{versionId}/export-manifest': {
    get: {
      operationId: 'exportManifest',
      tags: ['Export'],
      summary: 'List the files of a published version',
      description:
        'The manifest.json of the archive, with a signed address for each file, lesson.json included: whoever has it ' +
        'may fetch the file for four hours. All files together are those of the archive but for manifest.json. What ' +
        'cannot be had is in `failedMedia` and `failedWidgets`. The first request waits, as it does for the archive.',
      'x-codeSamples': curl([
        'curl -f "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-manifest" \\',
        '  -H "Authorization: Bearer $CREDENTIALS"',
      ]),
      security: withCredentials,
      requestParams: { path: exportPath, query: exportQuery, header: preference },
      responses: {
        200: jsonResponse(
          'The files.',
          exportManifest,
          { ...limited, ...noStore },
          { plain: { summary: 'A lesson with one picture and one widget', value: example.manifest } },
        ),
        202: accepted,
        ...exportFailures(buildRefusals, limited),
      },
    },
  },
  '/api/lessons/{lessonId}/versions/{versionId}/export-status': {
    get: {
      operationId: 'exportStatus',
      tags: ['Export'],
      summary: 'See how far an export is',
      description:
        'Nothing is built by asking. With `Accept: text/event-stream` the status comes as Server-Sent Events: at ' +
        'once, and whenever it has changed, until it is `ready`, `failed` or `none`, or for as long as a request ' +
        'would wait. The `data` of an event is the JSON below, its `id` the status.',
      'x-codeSamples': curl([
        'curl -fN "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-status" \\',
        '  -H "Authorization: Bearer $CREDENTIALS" -H "Accept: text/event-stream"',
      ]),
      security: withCredentials,
      requestParams: {
        path: exportPath,
        query: exportQuery,
        header: z.strictObject({
          'Last-Event-ID': z
            .string()
            .optional()
            .meta({ description: 'The `id` of the event that a stream ended with.', examples: ['ready'] }),
        }),
      },
      responses: {
        200: withEvents(
          jsonResponse('The status.', exportStatus, statusHeaders, {
            queued: { summary: 'It waits its turn', value: example.queued },
            building: { summary: 'It is built', value: example.building },
            ready: { summary: 'It can be downloaded', value: example.ready },
            failed: { summary: 'It failed', value: example.failed },
          }),
        ),
        204: {
          description: 'Of a stream that connects anew after its end: there is nothing more to hear.',
          headers: asHeaders(statusHeaders),
        },
        ...exportFailures(refusals, limited),
      },
    },
    delete: {
      operationId: 'cancelExport',
      tags: ['Export'],
      summary: 'Cancel an export',
      description:
        'Takes an export that nobody waits for out of the queue, or ends its build. Who has asked with `Prefer: ' +
        'respond-async`, or follows the status, does not count as waiting. An archive that is ready stays.',
      'x-codeSamples': curl([
        'curl -f -X DELETE "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-status" \\',
        '  -H "Authorization: Bearer $CREDENTIALS"',
      ]),
      security: withCredentials,
      requestParams: { path: exportPath, query: exportQuery },
      responses: {
        202: jsonResponse(
          'The build is told to end, and does within seconds.',
          exportStatus,
          { ...limited, ...noStore },
          { building: { summary: 'Still under way', value: example.building } },
        ),
        204: {
          description: 'No build of it waits, or is under way.',
          headers: asHeaders({ ...limited, ...noStore }),
        },
        ...exportFailures(
          {
            ...refusals,
            409: { when: 'A request waits for the archive.', texts: ['Somebody waits for this export'] },
          },
          limited,
        ),
      },
    },
  },
};

function withEvents(response: ZodOpenApiResponseObject): ZodOpenApiResponseObject {
  const events = { schema: z.string().meta({ description: 'Server-Sent Events.' }) };
  return { ...response, content: { ...response.content, 'text/event-stream': events } };
}
