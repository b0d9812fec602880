import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'koa';
import { z } from 'zod';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { lessonSchema } from '../../shared/packages/lesson-schema.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import type { Endpoint, EndpointDependencies } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { EncodedFile } from '../http/encoded-file.ts';
import { openAccess } from '../http/public-access.ts';
import { publicPath } from '../http/public-url.ts';
import { empty, failure } from '../http/responses.ts';
import { apiDocument } from './document.ts';
import { apiPage, pagePolicy, readPageScript } from './page.ts';

/** Short, because an upgrade changes the files. */
const cacheControl = 'public, max-age=300';

const cached = {
  ETag: z.string(),
  'Cache-Control': z.string().meta({ examples: [cacheControl] }),
  Vary: z.string().meta({ examples: ['Accept-Encoding'] }),
};
const notBuilt = 'The client is not built: run npm run prepare';
const notModified = empty('Your copy is current: its ETag is in `If-None-Match`.', cached);
const common = {
  method: 'get',
  access: openAccess,
  errors: apiErrors(),
  tag: 'Service',
} as const;

/**
 * Returns the endpoints that serve the API's documentation: the OpenAPI document, its page and the schema of lessons.
 *
 * @param endpoints returns all endpoints of the API, these included.
 */
export function openApiEndpoints(
  endpoints: () => readonly Endpoint<never>[],
): Endpoint<{ config: Pick<Config, 'publicUrl'> } & EndpointDependencies>[] {
  const getApiDocument = defineEndpoint(
    {
      ...common,
      path: '/openapi.json',
      operationId: 'getApiDocument',
      summary: 'Get this document',
      description: 'Pages of every origin may read it.',
      responses: {
        200: {
          kind: 'written',
          description: 'This API in OpenAPI 3.1.',
          headers: { ...cached, 'Access-Control-Allow-Origin': z.literal('*') },
          content: {
            'application/json': {
              schema: z.looseObject({ openapi: z.string() }),
            },
          },
        },
        304: notModified,
      },
    },
    ({ config }: { config: Pick<Config, 'publicUrl'> }) => {
      const document = once(() => textFile(JSON.stringify(apiDocument(config, endpoints()))));
      return async ({ ctx }) => {
        ctx.set('Access-Control-Allow-Origin', '*');
        await send(ctx, document(), 'application/json');
        return written;
      };
    },
  );
  return [getApiDocument, getApiPage, getApiPageScript, getLessonSchema, getClient];
}

const getApiPage = defineEndpoint(
  {
    ...common,
    path: '/docs',
    operationId: 'getApiPage',
    summary: 'Read this document as a page',
    responses: {
      200: {
        kind: 'written',
        description:
          'A page with search, code samples and a form that sends requests. It loads nothing from elsewhere.',
        headers: cached,
        content: { 'text/html': { schema: { type: 'string' } } },
      },
      304: notModified,
    },
  },
  ({ config }: { config: Pick<Config, 'publicUrl'> }) => {
    const page = textFile(apiPage(publicPath(config)));
    return async ({ ctx }) => {
      ctx.set('Content-Security-Policy', pagePolicy);
      ctx.set('Referrer-Policy', 'no-referrer');
      await send(ctx, page, 'text/html');
      return written;
    };
  },
);

const getApiPageScript = defineEndpoint(
  {
    ...common,
    path: '/docs/scalar.js',
    operationId: 'getApiPageScript',
    summary: 'Fetch the script of the page',
    responses: {
      200: {
        kind: 'written',
        description: 'The script.',
        headers: cached,
        content: { 'text/javascript': { schema: { type: 'string' } } },
      },
      304: notModified,
    },
  },
  () => {
    const script = once(readPageScript);
    return async ({ ctx }) => {
      await send(ctx, script(), 'text/javascript');
      return written;
    };
  },
);

const getLessonSchema = defineEndpoint(
  {
    ...common,
    path: '/schemas/lesson.json',
    operationId: 'getLessonSchema',
    summary: 'Get the schema of lesson.json',
    description:
      'With its URL as `$schema` in lesson.json, editors complete, explain and check what you write. Pages of every origin may read it.',
    responses: {
      200: {
        kind: 'written',
        description: 'JSON Schema 2020-12.',
        headers: { ...cached, 'Access-Control-Allow-Origin': z.literal('*') },
        content: {
          'application/schema+json': { schema: z.looseObject({ $defs: z.looseObject({}) }) },
        },
      },
      304: notModified,
    },
  },
  () => {
    const schema = once(() => textFile(JSON.stringify(lessonSchema())));
    return async ({ ctx }) => {
      ctx.set('Access-Control-Allow-Origin', '*');
      await send(ctx, schema(), 'application/schema+json');
      return written;
    };
  },
);

const getClient = defineEndpoint(
  {
    ...common,
    path: '/client.tgz',
    operationId: 'getClient',
    summary: 'Download the client',
    description: 'An npm package for JavaScript and TypeScript. `npm install` takes the URL.',
    responses: {
      200: {
        kind: 'written',
        description: 'The package.',
        headers: cached,
        content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } },
      },
      304: notModified,
      404: failure('The client was not built.', notBuilt),
    },
  },
  () => {
    const file = once(readClient);
    return async ({ ctx }) => {
      await send(ctx, file(), 'application/gzip');
      return written;
    };
  },
);

/** Returns the package that clients/typescript/pack.ts has written. @throws {LecternError} NOT_FOUND */
function readClient(): EncodedFile {
  try {
    const bytes = readFileSync(join(packageRoot, 'player', 'dist', 'client', 'client.tgz'));
    return new EncodedFile(bytes, { isCompressed: true });
  } catch (cause) {
    throw new LecternError('NOT_FOUND', notBuilt, { cause });
  }
}

function send(ctx: Context, file: EncodedFile, type: string): Promise<void> {
  ctx.set('Cache-Control', cacheControl);
  return file.send(ctx, type);
}

function textFile(text: string): EncodedFile {
  return new EncodedFile(Buffer.from(text));
}

/** Returns a function that creates the value at its first call. */
function once<Value>(create: () => Value): () => Value {
  let created: { value: Value } | undefined;
  return () => (created ??= { value: create() }).value;
}
