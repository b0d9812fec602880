import { z } from 'zod';
import { queueImport, touchUpload } from '../../shared/models/lesson-import.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { RequestContext } from '../http/context.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { empty, failure, json } from '../http/responses.ts';
import { createImport, parseCreation, planFailure, requireImports, texts } from './create-import.ts';
import * as example from './examples.ts';
import {
  header,
  locked,
  notFound,
  notFoundText,
  ofList,
  ofOne,
  optionalHeader,
  requireImport,
} from './import-endpoint.ts';
import type { ImportDependencies } from './import-endpoint.ts';
import { importBody, isUploadGone, presentImport } from './present-import.ts';
import { tusVersion, UploadRequests } from './upload-requests.ts';

const completeText = 'The upload is complete';
const versionText = `Tus-Resumable must be ${tusVersion}`;

const tusRequest = { 'Tus-Resumable': header('The version of the tus protocol.', tusVersion) };
const tusResponse: Headers = {
  'Tus-Resumable': z.literal(tusVersion).meta({ description: 'The version of the tus protocol.' }),
};
const offset: Headers = { 'Upload-Offset': header('The received bytes.', '1048576') };
const wrongVersion = {
  ...failure('The version of the tus protocol is missing or another one.', versionText),
  headers: { 'Tus-Version': z.literal(tusVersion).meta({ description: 'The supported version.' }) },
};
/** @throws {LecternError} PRECONDITION_FAILED */
function requireTus(ctx: RequestContext): void {
  if (ctx.get('Tus-Resumable') === tusVersion) return;
  ctx.set('Tus-Version', tusVersion);
  throw new LecternError('PRECONDITION_FAILED', versionText);
}

/** POST /api/lessons/imports */
export const beginImport = defineEndpoint(
  {
    ...ofList,
    method: 'post',
    headers: z.strictObject({
      ...tusRequest,
      'Upload-Length': header('The size of the package in bytes.', '73040'),
      'Upload-Metadata': optionalHeader(
        'Keys with values in Base64, separated by commas: `filename`, `asMedia` (`true` adds the file to the media ' +
          'library, and imports no lesson), and the options `asNew`, `publish`, `force` ' +
          '(`true` or `false`) and `mediaBaseUrl` of `lectern lesson import`. Other keys are ignored.',
        'publish dHJ1ZQ==',
      ),
    }),
    idempotent: true,
    audit: 'import.create',
    operationId: 'beginImport',
    summary: 'Begin an import',
    description:
      'Creates a resumable upload (tus 1.0) for a lesson package, a ZIP. Send the bytes with `PATCH` to its ' +
      '`Location`. A worker imports the package once it is complete.',
    sample: [
      'curl -f -X POST "$LECTERN/api/lessons/imports" -H "Authorization: Bearer $CREDENTIALS" \\',
      '  -H "Tus-Resumable: 1.0.0" -H "Upload-Length: $(wc -c < lesson.zip)"',
    ],
    responses: {
      201: json(
        'The upload can begin.',
        importBody,
        { created: { value: example.uploading } },
        {
          ...noStore,
          ...tusResponse,
          Location: header('The URL of the import and its upload.'),
        },
      ),
      403: planFailure,
      412: wrongVersion,
      413: failure(
        'The package is too large, or the organization may not store that much.',
        texts.tooLarge(8 * 1024 ** 3),
      ),
      422: failure('A header is missing or invalid.', texts.length, texts.metadata, texts.body),
      429: failure('Too many requests, or too many unfinished imports.'),
      500: failure('Something failed on the server, or the store has no room.', texts.noRoom),
    },
  },
  (deps: ImportDependencies) =>
    async ({ ctx, caller, newId }) => {
      requireImports(caller.organization);
      requireTus(ctx);
      const created = await createImport(deps, caller.organization, parseCreation(ctx, deps.config), newId);
      ctx.set('Location', `${publicUrlOf(ctx, deps.config)}/api/lessons/imports/${created._id}`);
      return { status: 201, body: presentImport(created, { offset: 0 }) };
    },
);

/** HEAD /api/lessons/imports/{importId}: where to continue an upload. */
export const readUpload = defineEndpoint(
  {
    ...ofOne,
    method: 'head',
    headers: z.strictObject(tusRequest),
    operationId: 'readUpload',
    summary: 'Read the offset of an upload',
    description: 'Ends a request that still writes the upload: its connection is usually lost.',
    responses: {
      200: empty('The upload continues at `Upload-Offset`.', {
        ...noStore,
        ...tusResponse,
        ...offset,
        'Upload-Length': header('The size of the package in bytes.', '73040'),
        'Upload-Metadata': optionalHeader('As the client sent it.'),
      }),
      404: notFound,
      412: wrongVersion,
      423: locked,
    },
  },
  (deps: ImportDependencies) => {
    const requests = new UploadRequests(deps.uploads, deps.redis, deps.config);
    return async (request) => {
      const { ctx } = request;
      requireTus(ctx);
      const found = await requireImport(deps.db, request);
      const { _id: id, state, size, metadata } = found;
      if (isUploadGone(found)) throw new LecternError('NOT_FOUND', notFoundText);
      const received = state === 'uploading' ? await requests.run(ctx, id) : size;
      if (state === 'uploading' && received === size) await finishUpload(deps, id);
      ctx.set({ 'Upload-Offset': String(received), 'Upload-Length': String(size) });
      if (metadata !== '') ctx.set('Upload-Metadata', metadata);
      return { status: 200 };
    };
  },
);

/** PATCH /api/lessons/imports/{importId}: bytes of the package. */
export const writeUpload = defineEndpoint(
  {
    ...ofOne,
    method: 'patch',
    headers: z.strictObject({
      ...tusRequest,
      'Upload-Offset': header('Where the bytes begin: the received bytes.', '0'),
    }),
    // `import.create` stands for the whole upload.
    audit: null,
    operationId: 'writeUpload',
    summary: 'Send bytes of a package',
    description:
      'If the connection breaks, ask with `HEAD` where to continue. With the last byte, the import is queued.',
    body: {
      description: 'The rest of the package, or a part of it.',
      contentType: 'application/offset+octet-stream',
      schema: z.string().meta({ format: 'binary' }),
      examples: {},
      failures: {},
    },
    responses: {
      204: empty('The bytes are stored.', { ...tusResponse, ...offset }),
      400: failure(
        'A header of the tus protocol is missing or invalid, or the connection broke.',
        'Upload-Offset header required',
        'Content-Type header required',
        'Invalid content-type',
        'Invalid upload-offset',
      ),
      404: notFound,
      409: failure(
        '`Upload-Offset` is not the number of received bytes, or the upload is complete.',
        completeText,
        'Upload-Offset conflict',
      ),
      412: wrongVersion,
      413: failure('The body is longer than the rest of the package.', "upload's size exceeded"),
      423: locked,
    },
  },
  (deps: ImportDependencies) => {
    const requests = new UploadRequests(deps.uploads, deps.redis, deps.config);
    return async (request) => {
      const { ctx } = request;
      try {
        requireTus(ctx);
        const { _id: id, state, size } = await requireImport(deps.db, request);
        if (state === 'canceled') throw new LecternError('NOT_FOUND', notFoundText);
        if (state !== 'uploading') throw new LecternError('CONFLICT', completeText);
        const received = await requests.run(ctx, id);
        if (received !== Number(ctx.get('Upload-Offset'))) await touchUpload(deps.db, id);
        if (received === size) await finishUpload(deps, id);
        ctx.set('Upload-Offset', String(received));
        return { status: 204 };
      } catch (error) {
        // Otherwise Node would read the rest of the body.
        ctx.set('Connection', 'close');
        throw error;
      }
    };
  },
);

/** Queues an import whose upload is complete. If the process dies before, a sweep queues it. */
async function finishUpload({ db, uploads }: ImportDependencies, importId: string): Promise<void> {
  await uploads.sync(importId);
  await queueImport(db, importId);
}
