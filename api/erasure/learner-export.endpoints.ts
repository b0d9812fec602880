import { z } from 'zod';
import { exportName } from '../../shared/erasure/learner-files.ts';
import { learnerZip } from '../../shared/erasure/learner-zip.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { LearnerSubject } from '../../shared/tokens/learner-subject.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { noStore } from '../http/headers.ts';
import { learnerId, ltiUserId, platformId } from '../http/learner-ids.ts';
import { sendStream } from '../http/send-stream.ts';
import { tooManyRequests } from '../http/middleware/rate-limit.ts';
import { failure } from '../http/responses.ts';
import type { WrittenResponse } from '../http/responses.ts';

const zipType = 'application/zip';

const zip: WrittenResponse = {
  kind: 'written',
  description: 'The archive. If Lectern stores nothing about the learner, its files have no entries.',
  headers: { ...noStore, 'Content-Disposition': z.string().meta({ description: 'Names the file.' }) },
  content: { [zipType]: { schema: { type: 'string', format: 'binary' } } },
};

const common = {
  method: 'get',
  access: apiAccess,
  scope: 'learners',
  audit: 'learner.export',
  errors: apiErrors(),
  tag: 'Learners',
  responses: {
    200: zip,
    400: failure('An id is not valid.'),
    429: {
      ...tooManyRequests,
      texts: [...tooManyRequests.texts, 'Too many lists of learners are being sent; try again in 10 seconds'],
    },
  },
} as const;

const description =
  "A ZIP of the learner's data. It has every record that an erasure removes: progress and answers in all lessons, " +
  'grades, and messages, sent or waiting. It omits fields that only coordinate processes, and what needs the scope ' +
  '`deliveries`, such as paths and responses of receivers. It also lists who else may have data, and when the data was read. ' +
  'The files are JSON and CSV, with a README for the learner. The response is a stream without a length. It is ' +
  'complete if it ends without a connection error.';

interface DataExportDependencies {
  db: Database;
  secrets: Pick<Secrets, 'keyPepper'>;
}

/** GET /api/learners/{learnerId}/export */
export const exportLearner = defineEndpoint(
  {
    ...common,
    path: '/api/learners/:learnerId/export',
    params: z.object({ learnerId }),
    operationId: 'exportLearner',
    summary: 'Export the data of a learner',
    description,
  },
  (deps: DataExportDependencies) =>
    ({ ctx, caller, params }) =>
      send(deps, ctx, { source: 'embed', organizationId: caller.organization._id, ...params }),
);

/** GET /api/lti-learners/{ltiUserId}/export */
export const exportLtiLearner = defineEndpoint(
  {
    ...common,
    path: '/api/lti-learners/:ltiUserId/export',
    params: z.object({ ltiUserId }),
    query: z.object({ platformId }),
    operationId: 'exportLtiLearner',
    summary: 'Export the data of a user of an LTI platform',
    description,
  },
  (deps: DataExportDependencies) =>
    ({ ctx, caller, params, query }) =>
      send(deps, ctx, { source: 'lti', organizationId: caller.organization._id, ...params, ...query }),
);

async function send(
  { db, secrets }: DataExportDependencies,
  ctx: EndpointContext,
  learner: LearnerSubject,
): Promise<typeof written> {
  const exportedAt = new Date();
  await sendStream(ctx, learner.organizationId, {
    chunks: () => learnerZip({ db, pepper: secrets.keyPepper }, learner, exportedAt),
    type: zipType,
    fileName: exportName(exportedAt),
  });
  return written;
}
