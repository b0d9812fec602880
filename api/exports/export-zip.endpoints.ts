import { z } from 'zod';
import { profileOf } from '../../shared/exports/profiles.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { fileHeaders, fileRequest, reprDigest } from '../http/headers.ts';
import { empty, failure } from '../http/responses.ts';
import { sendFile } from '../media/send-file.ts';
import { authorizeExport, exportEndpoint } from './authorize.ts';
import type { ExportDependencies } from './authorize.ts';
import { accepted, archiveOrAccepted, buildRefusals, preference } from './respond-with-archive.ts';

const known = {
  ...fileHeaders.known,
  'Content-Disposition': z.string().meta({
    description: 'The file name, from the lesson’s slug and the version’s number.',
    examples: ['attachment; filename="how-tides-work-v1.zip"'],
  }),
};
const content = { 'application/zip': { schema: { type: 'string', format: 'binary' } } } as const;

/** GET /api/lessons/{lessonId}/versions/{versionId}/export-zip: a published version as one ZIP. */
export const exportZip = defineEndpoint(
  {
    ...exportEndpoint,
    method: 'get',
    path: '/api/lessons/:lessonId/versions/:versionId/export-zip',
    headers: fileRequest.extend(preference.shape),
    operationId: 'exportZip',
    summary: 'Download a published version',
    description:
      'One ZIP with the lesson, its media and its widgets: `lesson.json`, `manifest.json`, `media/` and `widgets/` ' +
      'in one folder; with `include=player` also `index.html` and `player/`, which play the lesson; with a ' +
      '`format` a package for learning platforms, with all files at the top level. The first ' +
      'request for a version waits while its archive is built, up to five minutes unless the operator has set ' +
      'another limit; later ones get the stored file, the same byte for byte. A missing file never fails the ' +
      'export: `failedMedia` and `failedWidgets` of manifest.json name it.\n\n' +
      'Resume an interrupted download with `Range` and `If-Range`. To check whether your copy is current, send its ' +
      '`ETag` in `If-None-Match`.',
    sample: [
      'curl -fOJ "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-zip" \\',
      '  -H "Authorization: Bearer $CREDENTIALS"',
    ],
    responses: {
      200: {
        kind: 'written',
        description: 'The archive.',
        headers: { ...known, ...fileHeaders.whole },
        content,
      },
      202: accepted,
      302: {
        kind: 'written',
        description:
          'The archive is in a bucket, if the operator has set that up. Follow the redirect without credentials, and with ' +
          'the same `Range`. `ETag` and `Repr-Digest` are those of the archive.',
        headers: {
          Location: z.string().meta({ description: 'A URL of the bucket, valid for five minutes.' }),
          ETag: fileHeaders.known.ETag,
          ...reprDigest,
        },
        content: {},
      },
      206: {
        kind: 'written',
        description: 'The requested part of the archive.',
        headers: { ...known, ...fileHeaders.part },
        content,
      },
      304: empty('Your copy is current: its ETag is in `If-None-Match`.', known),
      ...buildRefusals,
      412: failure(
        'None of the ETags in `If-Match` is that of the archive.',
        `The file has changed: its ETag is now "${'2a3d'.repeat(16)}"`,
      ),
      416: {
        ...failure('The range lies outside of the archive.', 'The file has 877201 bytes'),
        headers: fileHeaders.outside,
      },
    },
  },
  (deps: ExportDependencies) => async (request) => {
    const { ctx } = request;
    const { job } = await authorizeExport(deps, request);
    const archive = await archiveOrAccepted(ctx, deps, job);
    if (archive === null) return written;
    await sendFile(ctx, archive, {
      deps,
      sha256: archive.sha256,
      describe() {
        ctx.attachment(profileOf(job).fileName(job));
        if (ctx.status !== 304) ctx.type = 'application/zip';
      },
    });
    return written;
  },
);
