import { setTimeout as delay } from 'node:timers/promises';
import { findReport } from '../../shared/models/conversion-report.ts';
import { cancelImport, listImports, markUploadDeleted } from '../../shared/models/lesson-import.ts';
import type { Uploads } from '../../shared/imports/uploads.ts';
import type { LessonImport } from '../../shared/models/lesson-import.ts';
import { findVersion } from '../../shared/models/lesson-version.ts';
import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { signPreview } from '../../shared/publishing/publishing.ts';
import type { RequestContext } from '../http/context.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { empty, failure, json } from '../http/responses.ts';
import { eventAlternative, lastEventId, respondWithStatus, statusEvents } from '../http/status-events.ts';
import * as example from './examples.ts';
import { header, locked, notFound, ofList, ofOne, requireImport } from './import-endpoint.ts';
import type { ImportDependencies, ImportRequest } from './import-endpoint.ts';
import { importBody, importList, isUploadGone, presentImport } from './present-import.ts';
import type { ImportBody } from './present-import.ts';
import { tusVersion, UploadRequests } from './upload-requests.ts';

/** The number of imports in the list. */
const listed = 100;

const endedText = 'The import has ended';

/** Returns the received bytes of an import's upload; 0 if it is gone. */
async function offsetOf(uploads: Uploads, found: LessonImport): Promise<number> {
  if (found.state === 'uploading') return (await uploads.receivedBytes(found._id)) ?? 0;
  return isUploadGone(found) ? 0 : found.size;
}

/** An import, and the received bytes of its upload. */
interface ReadImport {
  found: LessonImport;
  offset: number;
}

async function readImport({ db, uploads }: ImportDependencies, request: ImportRequest): Promise<ReadImport> {
  const found = await requireImport(db, request);
  return { found, offset: await offsetOf(uploads, found) };
}

/** Returns an import as clients see it. */
async function bodyOf(
  { db, store, config, secrets }: ImportDependencies,
  ctx: RequestContext,
  { found, offset }: ReadImport,
): Promise<ImportBody> {
  const { report } = found;
  const losses = report?.conversion ? await findReport(db, report.versionId) : null;
  const entries = losses?.entries ?? null;
  const version = report?.published === true ? await findVersion(db, report.versionId) : null;
  if (version?.status !== 'published' || version.problems.length > 0) {
    return presentImport(found, { offset, entries });
  }
  const { token, expiresAt } = await signPreview({ db, store, signing: secrets.signing }, version);
  const url = `${publicUrlOf(ctx, config)}/embed/${version.lessonId}?token=${token}`;
  return presentImport(found, { offset, entries, preview: { url, expiresAt } });
}

/** GET /api/lessons/imports */
export const listImportsEndpoint = defineEndpoint(
  {
    ...ofList,
    method: 'get',
    operationId: 'listImports',
    summary: 'List imports',
    description: `The newest ${listed} imports, without preview links. Lectern keeps ended imports for 30 days.`,
    responses: {
      200: json('The imports.', importList, { one: { value: { imports: [example.imported] } } }, noStore),
    },
  },
  ({ db, uploads }: ImportDependencies) =>
    async ({ caller }) => {
      const found = await listImports(db, caller.organization._id, listed);
      const imports = await Promise.all(
        found.map(async (one) => presentImport(one, { offset: await offsetOf(uploads, one) })),
      );
      return { status: 200, body: { imports } };
    },
);

/** GET /api/lessons/imports/{importId}: once as JSON, or as Server-Sent Events until the import ends. */
export const getImport = defineEndpoint(
  {
    ...ofOne,
    method: 'get',
    headers: lastEventId('imported'),
    operationId: 'getImport',
    summary: 'Read an import',
    description:
      'With `Accept: text/event-stream` the import comes as Server-Sent Events: at once and after every change, until ' +
      'it ends, or for as long as a request for an export would wait. The `data` of an event is the JSON below.',
    responses: {
      200: {
        ...json(
          'The import.',
          importBody,
          {
            uploading: { summary: 'Bytes are missing', value: example.uploading },
            imported: { summary: 'It succeeded', value: example.imported },
            converted: { summary: 'Another format was converted', value: example.converted },
            failed: { summary: 'The package was rejected', value: example.failed },
          },
          { ...noStore, Vary: header('The content type follows the `Accept` header.', 'Accept') },
        ),
        alternatives: eventAlternative,
      },
      204: empty('The stream has ended: do not reconnect.', noStore),
      404: notFound,
    },
  },
  (deps: ImportDependencies) => {
    const streams = new ConcurrencyLimit({
      concurrent: deps.config.export.waitsPerOrganization,
      ...{ waiting: 0, refusal: 'Too many requests wait for imports' },
    });
    return async (request) => {
      const { ctx } = request;
      const read = await readImport(deps, request);
      const { found } = read;
      const first = await bodyOf(deps, ctx, read);
      const isFinal = ({ endedAt }: ImportBody) => endedAt !== null;
      return respondWithStatus(ctx, first, {
        isFinal,
        begin: () => streams.begin(found.organizationId, ctx.state.signal),
        events: () =>
          statusEvents({
            first,
            isFinal,
            read: async () => bodyOf(deps, ctx, await readImport(deps, request)),
            changed: (timeoutMs, signal) => delay(timeoutMs, undefined, { signal }),
            waitSeconds: deps.config.export.waitSeconds,
            signal: ctx.state.signal,
          }),
      });
    };
  },
);

/** DELETE /api/lessons/imports/{importId} */
export const cancelImportEndpoint = defineEndpoint(
  {
    ...ofOne,
    method: 'delete',
    audit: 'import.cancel',
    operationId: 'cancelImport',
    summary: 'Cancel an import',
    description: 'Deletes the upload, or stops the import. An import that has ended stays as it is.',
    responses: {
      202: json(
        'A worker stops the import within seconds, unless it ends before.',
        importBody,
        { importing: { value: example.importing } },
        noStore,
      ),
      204: empty('It is canceled.', { 'Tus-Resumable': header('The version of the tus protocol.') }),
      404: notFound,
      409: failure('The import has ended.', endedText),
      423: locked,
    },
  },
  (deps: ImportDependencies) => {
    const requests = new UploadRequests(deps.uploads, deps.redis, deps.config);
    return async (request) => {
      const found = await requireImport(deps.db, request);
      const before = await cancelImport(deps.db, found._id);
      if (before === 'importing') {
        return { status: 202, body: await bodyOf(deps, request.ctx, await readImport(deps, request)) };
      }
      if (before === 'imported' || before === 'failed') throw new LecternError('CONFLICT', endedText);
      // If this fails, a sweep deletes the file.
      await requests.remove(found._id);
      await markUploadDeleted(deps.db, found._id);
      request.ctx.set('Tus-Resumable', tusVersion);
      return { status: 204 };
    };
  },
);
