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
  'WWW-Authenticate': z.string().meta({
    description:
      'How to authenticate, and what is wrong with the credentials of the request (RFC 6750): no `error` where it has ' +
      'none, else `error="invalid_token"` with an `error_description`.',
    examples: [
      'Bearer realm="Lectern"',
      'Bearer realm="Lectern", error="invalid_token", error_description="The credentials have expired"',
    ],
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

const exposed = z
  .literal('Retry-After, RateLimit, RateLimit-Policy')
  .meta({ description: 'Headers that a page may read.', header: { id: 'ExposeHeaders' } });

/** On all answers of addresses that a learner's token opens. */
export function forPlayers(methods: string): Headers {
  return { ...limited, ...anyOrigin(methods), 'Access-Control-Expose-Headers': exposed };
}

const allowedOrigins: Headers = {
  'Access-Control-Allow-Origin': z
    .string()
    .optional()
    .meta({
      description: 'The origin of the page, where the operator has allowed it (`LECTERN_ALLOWED_ORIGINS`).',
      header: { id: 'AllowedOrigin' },
    }),
  'Access-Control-Allow-Credentials': z
    .literal('true')
    .optional()
    .meta({ description: 'For pages of allowed origins.', header: { id: 'AllowCredentials' } }),
  Vary: z.literal('Origin').meta({ description: 'Answers differ by origin.', header: { id: 'VaryOrigin' } }),
};

/** On all answers of addresses that a user's session opens. */
export const forUsers: Headers = {
  ...limited,
  ...noStore,
  ...allowedOrigins,
  'Access-Control-Expose-Headers': exposed,
};

/** The same where API credentials do as well. */
export const forCallers: Headers = {
  ...forUsers,
  'Access-Control-Expose-Headers': exposed
    .optional()
    .meta({ description: 'Headers that a page may read; not sent to API credentials.' }),
};

/** The request headers that `sendFile` heeds. */
export const fileRequest = z.strictObject({
  Range: z
    .string()
    .optional()
    .meta({
      description: 'One range of bytes. The whole file is sent for several, and for what is no range.',
      examples: ['bytes=0-1023'],
    }),
  'If-Range': z
    .string()
    .optional()
    .meta({ description: 'The ETag that the range is of; with another one the whole file is sent.' }),
  'If-Match': z
    .string()
    .optional()
    .meta({ description: 'ETags of which one has to be that of the file, or `*`; else the answer is 412.' }),
  'If-None-Match': z.string().optional().meta({ description: 'ETags of copies that you have, or `*`.' }),
});

const acceptRanges: Headers = {
  'Accept-Ranges': z.literal('bytes').meta({ description: 'Ranges of bytes can be asked for.' }),
};
const digest = '"2a3dc6ed6663e7f51ae1b7d87824276c3f87a61835853fdad594093948d75bd5"';
const contentLength: Headers = {
  'Content-Length': z
    .string()
    .regex(/^\d+$/)
    .meta({ description: 'The exact number of bytes of the body.', examples: ['73040'] }),
};
const reprDigest: Headers = {
  'Repr-Digest': z
    .string()
    .regex(/^sha-256=:[A-Za-z\d+/]{43}=:$/)
    .meta({
      description: 'The SHA-256 of the whole file as RFC 9530 has it, in Base64.',
      examples: ['sha-256=:Kj3G7WZj5/Ua4bfYeCQnbD+Hphg1hT/a1ZQJOUjXW9U=:'],
    }),
};
const contentRange = (example: string): Headers => ({
  'Content-Range': z
    .string()
    .meta({ description: 'Which bytes these are, and how many the file has.', examples: [example] }),
});

/** What comes with a file that `sendFile` sends, by how it is answered. */
export const fileHeaders = {
  /** 304. */
  known: {
    ETag: z
      .string()
      .regex(/^"[0-9a-f]{64}"$/)
      .meta({ description: 'The SHA-256 of the whole file, in hex and quotes.', examples: [digest] }),
    ...acceptRanges,
  },
  /** 200. */
  whole: { ...contentLength, ...reprDigest },
  /** 206. */
  part: { ...contentLength, ...reprDigest, ...contentRange('bytes 0-1023/73040') },
  /** 416. */
  outside: { ...acceptRanges, ...contentRange('bytes */73040') },
} satisfies Record<string, Headers>;

export function asHeaders(headers: Headers): ZodOpenApiHeadersObject {
  return z.object(headers);
}
