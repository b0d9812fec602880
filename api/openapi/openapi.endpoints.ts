import type { Context } from 'koa';
import { z } from 'zod';
import type { Config } from '../../shared/platform/config.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { etagOf, matchesIfNoneMatch } from '../http/etags.ts';
import { openAccess } from '../http/public-access.ts';
import { publicPath } from '../http/public-url.ts';
import { empty } from '../http/responses.ts';
import { apiDocument } from './document.ts';
import { apiPage, pagePolicy, readPageScript } from './page.ts';

/** Short, because an upgrade changes the files. */
const cacheControl = 'public, max-age=300';

interface Page {
  bytes: Buffer;
  etag: string;
}

const cached = {
  ETag: z.string(),
  'Cache-Control': z.string().meta({ examples: [cacheControl] }),
};
const notModified = empty('You have it: the ETag is one of `If-None-Match`.', cached);
const common = { method: 'get', access: openAccess, errors: apiErrors(), tag: 'Service' } as const;

/**
 * Returns the endpoints that serve the API's documentation: the OpenAPI document and its page.
 *
 * @param endpoints returns all endpoints of the API, these included.
 */
export function openApiEndpoints(
  endpoints: () => readonly Endpoint<never>[],
): Endpoint<{ config: Pick<Config, 'publicUrl'> }>[] {
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
          content: { 'application/json': { schema: z.looseObject({ openapi: z.string() }) } },
        },
        304: notModified,
      },
    },
    ({ config }: { config: Pick<Config, 'publicUrl'> }) => {
      const document = once(() => toPage(JSON.stringify(apiDocument(config, endpoints()))));
      return ({ ctx }) => {
        ctx.set('Access-Control-Allow-Origin', '*');
        send(ctx, 'application/json', document());
        return written;
      };
    },
  );
  return [getApiDocument, getApiPage, getApiPageScript];
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
    const page = toPage(apiPage(publicPath(config)));
    return ({ ctx }) => {
      ctx.set('Content-Security-Policy', pagePolicy);
      ctx.set('Referrer-Policy', 'no-referrer');
      send(ctx, 'text/html', page);
      return written;
    };
  },
);

const scriptHeaders = { ...cached, Vary: z.string().meta({ examples: ['Accept-Encoding'] }) };

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
        headers: scriptHeaders,
        content: { 'text/javascript': { schema: { type: 'string' } } },
      },
      304: empty('You have it: the ETag is one of `If-None-Match`.', scriptHeaders),
    },
  },
  () => {
    const script = once(readPageScript);
    return async ({ ctx }) => {
      ctx.set('Cache-Control', cacheControl);
      await script().send(ctx, 'text/javascript');
      return written;
    };
  },
);

function send(ctx: Context, type: string, { bytes, etag }: Page): void {
  ctx.set('Cache-Control', cacheControl);
  ctx.set('ETag', etag);
  ctx.status = 200;
  if (matchesIfNoneMatch(ctx, etag)) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  ctx.body = bytes;
}

function toPage(text: string): Page {
  const bytes = Buffer.from(text);
  return { bytes, etag: etagOf(bytes) };
}

/** Returns a function that creates the value at its first call. */
function once<Value>(create: () => Value): () => Value {
  let created: { value: Value } | undefined;
  return () => (created ??= { value: create() }).value;
}
