import { z } from 'zod';
import { findReport } from '../../shared/models/conversion-report.ts';
import type { Database } from '../../shared/models/database.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint, unknownParameter } from '../http/endpoint.ts';
import * as example from '../http/examples.ts';
import { failure, json } from '../http/responses.ts';
import { converted } from '../imports/examples.ts';
import { conversionReport, presentConversionReport } from '../imports/present-import.ts';
import { ofVersion, requireVersion } from './version-requests.ts';

const wasPackage = 'The version was not converted from another format';

/** GET /api/lessons/{lessonId}/versions/{versionId}/conversion-report */
export const getConversionReport = defineEndpoint(
  {
    ...ofVersion,
    method: 'get',
    path: '/api/lessons/:lessonId/versions/:versionId/conversion-report',
    access: apiAccess,
    scope: 'read',
    query: z.strictObject({}, { error: unknownParameter }),
    operationId: 'readConversionReport',
    summary: 'Read what became of a file in another format',
    description:
      'Returns what the import of the version lost: every element of the file, and the block that it became.',
    responses: {
      200: json('The report.', conversionReport, {
        questions: {
          value: {
            versionId: example.listedLesson.latestVersion.id,
            ...{ format: 'gift', converted: 0, partial: 1, kept: 0, dropped: 0 },
            entries: converted.report?.conversion?.entries ?? [],
          },
        },
      }),
      404: failure(
        'The lesson or version does not exist, was deleted, or belongs to another organization; or the version was a ' +
          'lesson package, or the editor made it.',
        wasPackage,
      ),
      422: failure('An id is invalid, or there are query parameters.'),
    },
  },
  ({ db }: { db: Database }) =>
    async (request) => {
      const { _id: versionId } = await requireVersion(db, request);
      const report = await findReport(db, versionId);
      if (report === null) throw new LecternError('NOT_FOUND', wasPackage);
      return { status: 200, body: presentConversionReport(versionId, report) };
    },
);
