import { Readable } from 'node:stream';
import { z } from 'zod';
import { requestCancel } from '../../shared/exports/cancel.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { empty, failure, json } from '../http/responses.ts';
import { authorizeExport, exportEndpoint, exportRefusals } from './authorize.ts';
import { exportStatusBody } from './bodies.ts';
import type { ExportDependencies } from './authorize.ts';
import * as example from './examples.ts';
import { isFinal, readExportStatus } from './export-status.ts';
import { statusEvents } from './status-events.ts';

const eventStream = 'text/event-stream';
const wanted = 'Somebody waits for this export';

const common = {
  ...exportEndpoint,
  path: '/api/lessons/:lessonId/versions/:versionId/export-status',
} as const;
const headers: Headers = {
  ...noStore,
  Vary: z.literal('Accept').meta({ description: 'Answers differ by what is accepted.' }),
};

/** GET …/export-status: once in JSON, or as Server-Sent Events until the export ends. */
export const exportStatus = defineEndpoint(
  {
    ...common,
    method: 'get',
    headers: z.strictObject({
      'Last-Event-ID': z
        .string()
        .optional()
        .meta({ description: 'The `id` of the event that a stream ended with.', examples: ['ready'] }),
    }),
    operationId: 'exportStatus',
    summary: 'See how far an export is',
    description:
      'Nothing is built by asking. With `Accept: text/event-stream` the status comes as Server-Sent Events: at ' +
      'once, and whenever it has changed, until it is `ready`, `failed` or `none`, or for as long as a request ' +
      'would wait. The `data` of an event is the JSON below, its `id` the status.',
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
            queued: { summary: 'It waits its turn', value: example.queued },
            building: { summary: 'It is built', value: example.building },
            ready: { summary: 'It can be downloaded', value: example.ready },
            failed: { summary: 'It failed', value: example.failed },
          },
          headers,
        ),
        alternatives: { [eventStream]: { schema: z.string().meta({ description: 'Server-Sent Events.' }) } },
      },
      204: empty('The stream has ended: do not reconnect.', headers),
      ...exportRefusals,
    },
  },
  (deps: ExportDependencies) => async (request) => {
    const { ctx } = request;
    const { job } = await authorizeExport(deps, request);
    const status = await readExportStatus(deps.exports, job);
    if (ctx.accepts('application/json', eventStream) !== eventStream) return { status: 200, body: status };
    // An EventSource reconnects for ever, unless it gets 204.
    if (isFinal(status) && ctx.get('Last-Event-ID') === status.status) return { status: 204 };
    const endWait = deps.exports.openWaits.begin(job.organizationId);
    const { signal } = ctx.state;
    const events = statusEvents(deps.exports, job, { first: status, signal });
    ctx.set('Cache-Control', 'no-store');
    ctx.vary('Accept');
    // Koa destroys it with the response, also where nothing of it was read.
    ctx.body = Readable.from(events).once('close', endWait);
    ctx.type = eventStream;
    // nginx would hold events back until it has many.
    ctx.set('X-Accel-Buffering', 'no');
    return written;
  },
);

/** DELETE …/export-status: ends the build of an archive that no request waits for. */
export const cancelExport = defineEndpoint(
  {
    ...common,
    method: 'delete',
    operationId: 'cancelExport',
    summary: 'Cancel an export',
    description:
      'Takes an export that nobody waits for out of the queue, or ends its build. Who has asked with `Prefer: ' +
      'respond-async`, or follows the status, does not count as waiting. An archive that is ready stays.',
    sample: [
      'curl -f -X DELETE "$LECTERN/api/lessons/$LESSON_ID/versions/$VERSION_ID/export-status" \\',
      '  -H "Authorization: Bearer $CREDENTIALS"',
    ],
    responses: {
      202: json(
        'The build has been cancelled and ends within seconds.',
        exportStatusBody,
        { building: { summary: 'Still under way', value: example.building } },
        noStore,
      ),
      204: empty('No build of it waits, or is under way.', noStore),
      ...exportRefusals,
      409: failure('A request waits for the archive.', wanted),
    },
  },
  (deps: ExportDependencies) => async (request) => {
    const { job } = await authorizeExport(deps, request);
    const outcome = await requestCancel(deps.queue, job.key);
    if (outcome === 'wanted') throw new LecternError('CONFLICT', wanted);
    if (outcome !== 'stopping') return { status: 204 };
    return { status: 202, body: await readExportStatus(deps.exports, job) };
  },
);
