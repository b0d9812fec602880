import { Readable } from 'node:stream';
import { incompleteKey } from '../../shared/exports/jobs.ts';
import { profileOf } from '../../shared/exports/profiles.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { ConcurrencyLimit, requestWait } from '../../shared/platform/concurrency-limit.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { json } from '../http/responses.ts';
import { retryAfterSeconds } from '../http/retry-after.ts';
import { authorizeExport, exportEndpoint } from './authorize.ts';
import { exportManifestBody } from './bodies.ts';
import type { ExportDependencies } from './authorize.ts';
import * as example from './examples.ts';
import { createExportManifest } from './export-manifest.ts';
import { accepted, archiveOrAccepted, buildRefusals, preference } from './respond-with-archive.ts';

/** The maximum number of requests for an archive without a record: another build may be replacing it, or it is lost. */
const maxAttempts = 3;

const unlistedFault = 'A cartridge has no file list; request export-zip';

/** GET …/export-manifest: manifest.json of a published version, with a signed URL for each file. */
export const exportManifest = defineEndpoint(
  {
    ...exportEndpoint,
    method: 'get',
    path: '/api/lessons/:lessonId/versions/:versionId/export-manifest',
    headers: preference,
    operationId: 'exportManifest',
    summary: 'List the files of a published version',
    description:
      'The manifest.json of the archive, with a signed URL for each file, lesson.json included. Anyone with the ' +
      'URL can fetch the file for four hours. The list holds every file of the archive except manifest.json. ' +
      '`failedMedia` and `failedWidgets` name missing files. The first request waits, as it does for the archive.',
    sample: [
      'curl -f "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-manifest" \\',
      '  -H "Authorization: Bearer $CREDENTIALS"',
    ],
    responses: {
      200: json(
        'The files.',
        exportManifestBody,
        { plain: { summary: 'A lesson with one picture and one widget', value: example.manifest } },
        noStore,
      ),
      202: accepted,
      ...buildRefusals,
    },
  },
  (deps: ExportDependencies) => {
    // A manifest of 66,000 files takes a second and some hundred megabytes.
    const limit = new ConcurrencyLimit({ ...requestWait, concurrent: 1, inAll: 2 });
    return async (request) => {
      const { ctx } = request;
      const authorized = await authorizeExport(deps, request);
      const { job } = authorized;
      if (profileOf(job).isUnlisted === true) throw new LecternError('BAD_REQUEST', unlistedFault);
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const archive = await archiveOrAccepted(ctx, deps, job);
        if (archive === null) return written;
        try {
          const { signal } = ctx.state;
          const signing = { ...authorized, base: publicUrlOf(ctx, deps.config), signal };
          const create = () => createExportManifest(deps, archive, signing);
          const manifest = await limit.run(authorized.version.organizationId, signal, create);
          if (manifest !== null) {
            ctx.set('Cache-Control', 'no-store');
            ctx.body = Readable.from(manifest);
            ctx.type = 'application/json';
            ctx.length = manifest.reduce((bytes, piece) => bytes + piece.length, 0);
            return written;
          }
        } finally {
          await archive.close();
        }
        // A rebuilt archive has a record.
        if (attempt > 0) {
          for (const key of [job.key, incompleteKey(job.key)]) await deps.store.archives.delete(key);
        }
      }
      throw new LecternError('INTERNAL_ERROR', 'The archive has no record', { retryAfterSeconds });
    };
  },
);
