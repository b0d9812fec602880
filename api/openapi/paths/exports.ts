import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { exportPath, exportQuery } from '../../exports/authorize.ts';
import { asHeaders, fileHeaders, fileRequest, limited } from '../headers.ts';
import { exportFailures } from '../responses.ts';
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

/** Published versions as self-contained archives. */
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
      'x-codeSamples': [
        {
          lang: 'Shell',
          source: [
            'curl -fOJ "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-zip" \\',
            '  -H "Authorization: Bearer $CREDENTIALS"',
          ].join('\n'),
        },
      ],
      security: withCredentials,
      requestParams: { path: exportPath, query: exportQuery, header: fileRequest },
      responses: {
        200: {
          description: 'The archive.',
          headers: asHeaders({ ...known, ...fileHeaders.whole }),
          content: archive,
        },
        206: {
          description: 'The part of the archive that was asked for.',
          headers: asHeaders({ ...known, ...fileHeaders.part }),
          content: archive,
        },
        304: { description: 'You have it: its ETag is in `If-None-Match`.', headers: asHeaders(known) },
        ...exportFailures(
          {
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
            416: {
              when: 'The range lies outside of the archive.',
              texts: ['The file has 877201 bytes'],
              headers: fileHeaders.outside,
            },
            422: {
              when: 'The content cannot be played, or the archive would be too large; the message says what.',
              texts: [
                'The lesson cannot be exported: Section 2 ("Tides") has no steps',
                'The archive would be larger than the limit of 8589934592 bytes.',
              ],
            },
            500: {
              when: 'The build failed, is not ready in time, or a server does not answer.',
              texts: ['An unexpected error occurred while generating the export'],
            },
          },
          limited,
        ),
      },
    },
  },
};
