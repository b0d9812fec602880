import { z } from 'zod';
import { errorCodes } from '../../shared/platform/errors.ts';

/** Response headers by name. A header that is not always sent has an optional schema. */
export type Headers = Record<string, z.ZodType<string | number | undefined>>;

/** Headers of every response. */
export const requestId: Headers = {
  'X-Request-Id': z
    .string()
    .regex(/^[\w.:-]{1,128}$/)
    .meta({
      description:
        'Identifies the request in the log of the service. To set it, send the header with 1 to 128 letters, digits, ' +
        '`_`, `.`, `:` and `-`.',
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
        'The limit: `q` requests in `w` seconds, for each API key, user or client IP address. Missing when the operator ' +
        'has turned the limit off.',
      examples: ['"key";q=6000;w=60'],
      header: { id: 'RateLimitPolicy' },
    }),
  RateLimit: z
    .string()
    .optional()
    .meta({
      description: '`r` requests are left for the next `t` seconds.',
      examples: ['"key";r=5999;t=60'],
      header: { id: 'RateLimit' },
    }),
};

export const errorCodeHeader = 'Error-Code';

/** Headers of every error. */
export const errorCode: Headers = {
  [errorCodeHeader]: z
    .string()
    .regex(/^[A-Z_]+$/)
    .meta({
      description: `For programs, which must expect further codes: ${errorCodes.map((code) => `\`${code}\``).join(', ')}.`,
      examples: ['NOT_FOUND'],
      header: { id: 'ErrorCode' },
    }),
};

export const challenge: Headers = {
  'WWW-Authenticate': z.string().meta({
    description:
      'How to authenticate (RFC 6750). When the request has credentials, `error="invalid_token"` and ' +
      '`error_description` say what is wrong with them.',
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

/** Headers of a 429 response. */
export const retryAfter: Headers = {
  'Retry-After': seconds('Seconds to wait before the next request.').meta({ header: { id: 'RetryAfter' } }),
};

/** Headers of a 500 response whose cause may be temporary. */
export const retryAfterIfTemporary: Headers = {
  'Retry-After': seconds(
    'Seconds after which a retry may succeed. Sent when the failure may be temporary: a server or a disk fails, or a ' +
      'build is still running.',
  )
    .optional()
    .meta({ header: { id: 'RetryAfterIfTemporary' } }),
};

export const noStore: Headers = {
  'Cache-Control': z
    .literal('no-store')
    .meta({ description: 'Clients and proxies must not store the response.', header: { id: 'NoStore' } }),
};

/** Headers of responses that are compressed if the client accepts it. */
export const encoded: Headers = {
  Vary: z.string().meta({
    description: 'Responses differ by encoding.',
    examples: ['Accept-Encoding'],
    header: { id: 'VaryEncoding' },
  }),
  'Content-Encoding': z
    .string()
    .optional()
    .meta({
      description: 'Missing for an uncompressed body.',
      examples: ['gzip'],
      header: { id: 'Encoding' },
    }),
};

/** The response headers that pages may read, besides those that need no permission. */
export const exposedHeaders = `Retry-After, RateLimit, RateLimit-Policy, ${errorCodeHeader}`;

/** Those that pages with a user's session may read: uploads need more. */
export const exposedToUsers = [
  ...[exposedHeaders, 'Content-Disposition', 'ETag', 'Idempotent-Replayed', 'Location'],
  ...['Tus-Resumable', 'Upload-Length', 'Upload-Offset'],
].join(', ');

const exposed = z
  .literal(exposedHeaders)
  .meta({ description: 'Headers that pages may read.', header: { id: 'ExposeHeaders' } });

const allOrigins: Headers = {
  'Access-Control-Expose-Headers': exposed,
  'Access-Control-Allow-Origin': z
    .literal('*')
    .meta({ description: 'Pages of every origin may read the response.', header: { id: 'AllowOrigin' } }),
  'Access-Control-Allow-Headers': z
    .string()
    .meta({ description: 'Headers that pages may send.', header: { id: 'AllowHeaders' } }),
};

/** CORS headers for pages of every origin. @param methods such as "GET, OPTIONS". */
export function anyOrigin(methods: string): Headers {
  return {
    ...allOrigins,
    'Access-Control-Allow-Methods': z.literal(methods).meta({ description: 'Methods of this URL.' }),
  };
}

/** Headers of every response of endpoints with a rate limit. */
export const limited: Headers = { ...requestId, ...rateLimit };

/** Headers of every response of endpoints that take a learner's token. */
export function forPlayers(methods: string): Headers {
  return { ...limited, ...anyOrigin(methods) };
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
  'Access-Control-Expose-Headers': z
    .literal(exposedToUsers)
    .optional()
    .meta({
      description: 'Headers that pages of allowed origins may read.',
      header: { id: 'ExposeToAllowed' },
    }),
  Vary: z.string().meta({
    description: 'Responses differ by origin, and some by encoding.',
    examples: ['Origin', 'Origin, Accept-Encoding'],
    header: { id: 'VaryOrigin' },
  }),
};

/** Headers of every response of endpoints that take API credentials or a user's session. */
export const forUsers: Headers = { ...limited, ...noStore, ...allowedOrigins };

/** The request headers that `sendFile` supports. */
export const fileRequest = z.strictObject({
  Range: z
    .string()
    .optional()
    .meta({
      description: 'One range of bytes. Several ranges and invalid ones return the whole file.',
      examples: ['bytes=0-1023'],
    }),
  'If-Range': z.string().optional().meta({
    description:
      'The ETag of the file that the range belongs to. If the file has another ETag, the whole file is sent.',
  }),
  'If-Match': z
    .string()
    .optional()
    .meta({ description: 'ETags, or `*`. If none of them is the ETag of the file, the response is 412.' }),
  'If-None-Match': z.string().optional().meta({ description: 'ETags of copies that you have, or `*`.' }),
});

const acceptRanges: Headers = {
  'Accept-Ranges': z.literal('bytes').meta({ description: 'The file supports byte ranges.' }),
};
const digest = '"2a3dc6ed6663e7f51ae1b7d87824276c3f87a61835853fdad594093948d75bd5"';
const contentLength: Headers = {
  'Content-Length': z
    .string()
    .regex(/^\d+$/)
    .meta({ description: 'The exact size of the body in bytes.', examples: ['73040'] }),
};
export const reprDigest: Headers = {
  'Repr-Digest': z
    .string()
    .regex(/^sha-256=:[A-Za-z\d+/]{43}=:$/)
    .meta({
      description: 'The SHA-256 of the whole file in Base64 (RFC 9530).',
      examples: ['sha-256=:Kj3G7WZj5/Ua4bfYeCQnbD+Hphg1hT/a1ZQJOUjXW9U=:'],
    }),
};
const contentRange = (example: string): Headers => ({
  'Content-Range': z
    .string()
    .meta({ description: 'The range of bytes, and the size of the file.', examples: [example] }),
});

/** The headers of responses of `sendFile`. */
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
