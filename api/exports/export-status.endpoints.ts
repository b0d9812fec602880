import { z } from 'zod';
import { cancelOpenJob } from '../../shared/exports/cancel.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { empty, json } from '../http/responses.ts';
import { eventAlternative, lastEventId, respondWithStatus } from '../http/status-events.ts';
import { authorizeExport, exportEndpoint, exportRefusals } from './authorize.ts';
import { exportStatusBody } from './bodies.ts';
import type { ExportDependencies } from './authorize.ts';
import * as example from './examples.ts';
import { exportStatusEvents, isFinal, readExportStatus } from './export-status.ts';

const common = {
  ...exportEndpoint,
  path: '/api/lessons/:lessonId/versions/:versionId/export-status',
} as const;
const headers: Headers = {
  ...noStore,
  Vary: z.literal('Accept').meta({ description: 'The content type follows the `Accept` header.' }),
};

/** GET …/export-status: once as JSON, or as Server-Sent Events until the export ends. */
export const exportStatus = defineEndpoint(
  {
    ...common,
    method: 'get',
    headers: lastEventId('ready'),
    operationId: 'exportStatus',
    summary: 'Read the status of an export',
    description:
      'Reading the status starts no build. With `Accept: text/event-stream` the status comes as Server-Sent ' +
      'Events: at once and after every change, until it is `ready`, `failed` or `none`, or for as long as a ' +
      'request would wait. The `data` of an event is the JSON below, its `id` is the status.',
    sample: [
      'curl -fN "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-status" \\',
      '  -H "Authorization: Bearer $CREDENTIALS" -H "Accept: text/event-stream"',
    ],
    responses: {
      200: {
        ...json(
          'The status.',
          exportStatusBody,
          {
            queued: { summary: 'It waits in the queue', value: example.queued },
            building: { summary: 'A worker builds it', value: example.building },
            ready: { summary: 'It can be downloaded', value: example.ready },
            failed: { summary: 'It failed', value: example.failed },
          },
          headers,
        ),
        alternatives: eventAlternative,
      },
      204: empty('The stream has ended: do not reconnect.', headers),
      ...exportRefusals,
    },
  },
  (deps: ExportDependencies) => async (request) => {
    const { ctx } = request;
    const { job } = await authorizeExport(deps, request);
    const status = await readExportStatus(deps.exports, job);
    const { signal } = ctx.state;
    return respondWithStatus(ctx, status, {
      isFinal,
      begin: () => deps.exports.waits.begin(job.organizationId, signal),
      events: () => exportStatusEvents(deps.exports, job, { first: status, signal }),
    });
  },
);

/** DELETE …/export-status: cancels the build of an archive. */
export const cancelExport = defineEndpoint(
  {
    ...common,
    method: 'delete',
    audit: 'export.cancel',
    operationId: 'cancelExport',
    summary: 'Cancel an export',
    description:
      'Removes an export from the queue or stops its build. A request that waits for it begins another one. An archive ' +
      'that is ready stays.',
    sample: [
      'curl -f -X DELETE "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-status" \\',
      '  -H "Authorization: Bearer $CREDENTIALS"',
    ],
    responses: {
      202: json(
        'The build is canceled and ends within seconds.',
        exportStatusBody,
        { building: { summary: 'Still running', value: example.building } },
        noStore,
      ),
      204: empty('No build of the archive is waiting or running.', noStore),
      ...exportRefusals,
    },
  },
  (deps: ExportDependencies) => async (request) => {
    const { job } = await authorizeExport(deps, request);
    const outcome = await cancelOpenJob(deps.queue, job);
    if (outcome !== 'stopping') return { status: 204 };
    return { status: 202, body: await readExportStatus(deps.exports, job) };
  },
);
