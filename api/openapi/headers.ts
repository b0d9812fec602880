import { z } from 'zod';
import type { ZodOpenApiHeadersObject } from 'zod-openapi';

/** Headers of a response by their names; optional schemas are of headers that are not always there. */
export type Headers = Record<string, z.ZodType<string | number | undefined>>;

/** On every answer. */
export const requestId: Headers = {
  'X-Request-Id': z
    .string()
    .regex(/^[\w.:-]{1,128}$/)
    .meta({
      description:
        'Names the request in the log of the service. Send one of your own (1 to 128 letters, digits, `_`, `.`, ' +
        '`:`, `-`) and it is used instead.',
      examples: ['dd98b664-9554-4f9f-ad08-cb40f1e0eeec'],
      header: { id: 'RequestId' },
    }),
};

const rateLimit = {
  'RateLimit-Policy': z
    .string()
    .optional()
    .meta({
      description:
        'How many requests (`q`) may be made in how many seconds (`w`), by API key or by client address. ' +
        'Not sent where the operator has turned the limit off.',
      examples: ['"key";q=6000;w=60'],
      header: { id: 'RateLimitPolicy' },
    }),
  RateLimit: z
    .string()
    .optional()
    .meta({
      description: 'How many requests are left (`r`), and for how many seconds (`t`).',
      examples: ['"key";r=5999;t=60'],
      header: { id: 'RateLimit' },
    }),
};

export const challenge: Headers = {
  'WWW-Authenticate': z.literal('Bearer').meta({
    description: 'How to authenticate.',
    header: { id: 'WwwAuthenticate' },
  }),
};

const seconds = (description: string) =>
  z
    .string()
    .regex(/^\d+$/)
    .meta({ description, examples: ['10'] });

/** On a 429. */
export const retryAfter: Headers = {
  'Retry-After': seconds('Seconds to wait before the next request.').meta({ header: { id: 'RetryAfter' } }),
};

/** On a 500 that may pass by itself. */
export const mayPass: Headers = {
  'Retry-After': seconds(
    'Seconds after which the same request may succeed. Sent where a retry makes sense: while a server or a disk is ' +
      'in trouble, or while a build goes on.',
  )
    .optional()
    .meta({ header: { id: 'RetryAfterWhatMayPass' } }),
};

export const noStore: Headers = {
  'Cache-Control': z
    .literal('no-store')
    .meta({ description: 'Nothing may keep a copy.', header: { id: 'NoStore' } }),
};

const allOrigins: Headers = {
  'Access-Control-Allow-Origin': z
    .literal('*')
    .meta({ description: 'Pages of every origin may read this.', header: { id: 'AllowOrigin' } }),
  'Access-Control-Allow-Headers': z
    .string()
    .meta({ description: 'Headers that a page may send.', header: { id: 'AllowHeaders' } }),
};

/** The headers with which pages of every origin may read an answer; `methods` as they are sent. */
export function anyOrigin(methods: string): Headers {
  return {
    ...allOrigins,
    'Access-Control-Allow-Methods': z.literal(methods).meta({ description: 'The methods of this address.' }),
  };
}

/** On all answers of addresses whose requests are counted. */
export const limited: Headers = { ...requestId, ...rateLimit };

export function asHeaders(headers: Headers): ZodOpenApiHeadersObject {
  return z.object(headers);
}
