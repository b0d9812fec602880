import { z } from 'zod';
import type {
  ZodOpenApiExamplesObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { presentError, presentExportError } from '../http/present-error.ts';
import { asHeaders, challenge, mayPass, retryAfter } from './headers.ts';
import type { Headers } from './headers.ts';

/** The code of a failed export, by status. */
const exportCodes = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FEATURE_NOT_AVAILABLE',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  416: 'RANGE_NOT_SATISFIABLE',
  422: 'INVALID_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_ERROR',
} as const;

/** Shape A of the contract. */
export const errorBody = z
  .strictObject({ error: z.string().min(1).meta({ description: 'What is wrong, for people.' }) })
  .meta({ id: 'Error', description: 'A failure.' });

/** Shape B of the contract. */
export const exportErrorBody = z
  .strictObject({
    error: z.string().min(1).meta({ description: 'A short title.' }),
    message: z.string().min(1).meta({ description: 'What is wrong, for people.' }),
    code: z
      .enum(Object.values(exportCodes))
      .meta({ description: 'For programs: it stays the same where a message changes.' }),
    timestamp: z.iso.datetime().meta({ description: 'When it happened.' }),
  })
  .meta({ id: 'ExportError', description: 'A failure of an export.' });

/** When a status is answered, and with which texts. */
export interface Failure {
  when: string;
  texts: readonly string[];
  headers?: Headers;
}

/** Failures by their status. */
type Failures<Status extends number> = Partial<Record<Status, Failure>>;
type ShapeAStatus = 400 | 401 | 403 | 404 | 409 | 412 | 413 | 416 | 422 | 429 | 431 | 500 | 501;

const tooMany: Failure = {
  when: 'The limit of requests a minute is reached.',
  texts: ['Too many requests; try again in 42 seconds'],
};

/** For addresses that take API credentials. */
export const badCredentials: Failure = {
  when: 'The credentials are missing, malformed, unknown, revoked or expired.',
  texts: ['Authentication failed'],
};

/** Headers that come with a status wherever it is answered. */
const headersOf: Partial<Record<string, Headers>> = { 401: challenge, 429: retryAfter, 500: mayPass };

/** Failures in shape A. */
export function failures(given: Failures<ShapeAStatus>, common: Headers): ZodOpenApiResponsesObject {
  return toResponses(given, common, errorBody, presentError);
}

/** Failures in shape A of an address whose requests are counted. */
export function limitedFailures(given: Failures<ShapeAStatus>, common: Headers): ZodOpenApiResponsesObject {
  return failures({ 429: tooMany, ...given }, common);
}

/** Failures of the export endpoints, in shape B. */
export function exportFailures(
  given: Failures<keyof typeof exportCodes>,
  common: Headers,
): ZodOpenApiResponsesObject {
  return toResponses({ 429: tooMany, ...given }, common, exportErrorBody, (message, status) => ({
    ...presentExportError(exportCodes[status as keyof typeof exportCodes], message),
    timestamp: '2026-11-21T11:03:46.025Z',
  }));
}

function toResponses(
  given: Record<string, Failure>,
  common: Headers,
  schema: z.ZodType,
  present: (text: string, status: number) => object,
): ZodOpenApiResponsesObject {
  const responses = Object.entries(given).map(([status, { when, texts, headers }]) => {
    const example = (text: string) => ({ summary: text, value: present(text, Number(status)) });
    const examples = Object.fromEntries(texts.map((text, index) => [`text${index + 1}`, example(text)]));
    return [status, jsonResponse(when, schema, { ...common, ...headersOf[status], ...headers }, examples)];
  });
  return Object.fromEntries(responses) as ZodOpenApiResponsesObject;
}

/** An answer in JSON. @param examples by a short name; their summaries are for readers. */
export function jsonResponse(
  description: string,
  schema: z.ZodType,
  headers: Headers,
  examples: ZodOpenApiExamplesObject,
): ZodOpenApiResponseObject {
  return {
    description,
    headers: asHeaders(headers),
    content: { 'application/json': { schema, examples } },
  };
}
