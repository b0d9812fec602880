import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { alive, readiness, serviceState } from '../bodies.ts';
import { asHeaders, limited, requestId } from '../headers.ts';
import type { Headers } from '../headers.ts';
import { jsonResponse, limitedFailures } from '../responses.ts';
import { open } from '../security.ts';

const ready = { mongodb: 'ok', indexes: 'ok', redis: 'ok', store: 'ok' };
const cached: Headers = {
  ...requestId,
  ETag: z.string(),
  'Cache-Control': z.string().meta({ examples: ['public, max-age=300'] }),
};
const notModified = {
  description: 'You have it: the ETag is one of `If-None-Match`.',
  headers: asHeaders(cached),
};

const unexpected = { when: 'Something failed on the server.', texts: ['An unexpected error occurred'] };

const startHeaders: Headers = {
  ...limited,
  'Cache-Control': z.literal('no-store'),
  Vary: z.string().meta({ examples: ['Accept'] }),
};

/** An icon at one of the paths that browsers ask for. */
const icon = (operationId: string) => ({
  get: {
    operationId,
    tags: ['Service'],
    summary: 'Fetch the icon of the service',
    security: open,
    responses: {
      200: {
        description: 'An SVG.',
        headers: asHeaders({ ...cached, Vary: z.string().meta({ examples: ['Accept-Encoding'] }) }),
        content: { 'image/svg+xml': { schema: { type: 'string' as const } } },
      },
      304: notModified,
    },
  },
});

/** The state of the service, and its documentation. */
export const servicePaths: ZodOpenApiPathsObject = {
  '/': {
    get: {
      operationId: 'getStartPage',
      tags: ['Service'],
      summary: 'Ask what this is, and for its state',
      description:
        'A page for people; with `Accept: application/json` the same for programs. The state is kept for up to 3 ' +
        'seconds. It is always 200: load balancers ask `/health/ready`.',
      security: open,
      responses: {
        200: {
          description: 'The state, and links to the documentation.',
          headers: asHeaders(startHeaders),
          content: {
            'text/html': { schema: { type: 'string' } },
            'application/json': {
              schema: serviceState,
              examples: {
                ready: { value: { name: 'Lectern', status: 'ok', docs: '/docs', openapi: '/openapi.json' } },
              },
            },
          },
        },
        ...limitedFailures({ 500: unexpected }, limited),
      },
    },
  },
  '/favicon.svg': icon('getIcon'),
  '/favicon.ico': icon('getFavicon'),
  '/health/live': {
    get: {
      operationId: 'isAlive',
      tags: ['Service'],
      summary: 'Ask whether the process lives',
      security: open,
      responses: {
        200: jsonResponse('It does.', alive, requestId, { alive: { value: { status: 'ok' } } }),
      },
    },
  },
  '/health/ready': {
    get: {
      operationId: 'isReady',
      tags: ['Service'],
      summary: 'Ask whether it can do its work',
      description: 'A result is kept for up to 3 seconds, so any number of callers may ask.',
      security: open,
      responses: {
        200: jsonResponse('It can.', readiness, requestId, {
          ready: { value: { status: 'ok', checks: ready } },
        }),
        503: jsonResponse('Something it depends on fails.', readiness, requestId, {
          redisIsAway: { value: { status: 'unavailable', checks: { ...ready, redis: 'failed' } } },
        }),
      },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'getApiDocument',
      tags: ['Service'],
      summary: 'Get this document',
      description: 'Pages of every origin may read it.',
      security: open,
      responses: {
        200: {
          description: 'This API in OpenAPI 3.1.',
          headers: asHeaders({ ...cached, 'Access-Control-Allow-Origin': z.literal('*') }),
          content: { 'application/json': { schema: z.looseObject({ openapi: z.string() }) } },
        },
        304: notModified,
      },
    },
  },
  '/docs': {
    get: {
      operationId: 'getApiPage',
      tags: ['Service'],
      summary: 'Read this document as a page',
      security: open,
      responses: {
        200: {
          description: 'A page without script, that asks no other address for anything.',
          headers: asHeaders(cached),
          content: { 'text/html': { schema: { type: 'string' } } },
        },
        304: notModified,
      },
    },
  },
};
