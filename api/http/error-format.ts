import type { Middleware } from 'koa';
import { z } from 'zod';
import type { ZodOpenApiContentObject, ZodOpenApiExamplesObject } from 'zod-openapi';
import type { ErrorCode, LecternError } from '../../shared/platform/errors.ts';
import { respondToErrors } from './middleware/errors.ts';
import type { Failure } from './responses.ts';

/** The body of an endpoint's errors: how to render it, and how the OpenAPI document describes it. */
export interface ErrorFormat<Deps = unknown> {
  /** Returns middleware that turns thrown errors into responses. */
  render(deps: Deps): Middleware;
  /** The default text of a 500; null for pages. */
  unexpected: string | null;
  /**
   * Describes the body of an error.
   *
   * @param texts the messages that it can contain.
   * @param codes the codes of texts whose code does not follow from the status.
   */
  content(status: number, texts: readonly string[], codes?: Failure['codes']): ZodOpenApiContentObject;
}

/** The body of an API error. */
export const errorBody = z
  .strictObject({ error: z.string().min(1).meta({ description: 'What is wrong, for people.' }) })
  .meta({ id: 'Error', description: 'A failure.' });

export function presentError(message: string): z.input<typeof errorBody> {
  return { error: message };
}

/** Describes an API error with these texts. */
export function errorExamples(...texts: string[]): ZodOpenApiContentObject {
  return apiErrors().content(400, texts);
}

/** Returns the format of most endpoints: `{"error": "…"}`. @param unexpected the text of a 500 without one. */
export function apiErrors(unexpected?: string): ErrorFormat {
  if (unexpected === undefined) return commonErrors;
  return jsonErrors(unexpected, errorBody, (_code, message) => presentError(message));
}

const errorTitles: Record<ErrorCode, string> = {
  BAD_REQUEST: 'Bad Request',
  UNAUTHORIZED: 'Authentication Error',
  FEATURE_NOT_AVAILABLE: 'Forbidden',
  FORBIDDEN: 'Forbidden',
  NOT_FOUND: 'Not Found',
  METHOD_NOT_ALLOWED: 'Method Not Allowed',
  REQUEST_TIMEOUT: 'Request Timeout',
  CONFLICT: 'Conflict',
  GONE: 'Gone',
  PRECONDITION_FAILED: 'Precondition Failed',
  PAYLOAD_TOO_LARGE: 'Payload Too Large',
  RANGE_NOT_SATISFIABLE: 'Range Not Satisfiable',
  INVALID_CONTENT: 'Invalid Content',
  LOCKED: 'Locked',
  TOO_MANY_REQUESTS: 'Too Many Requests',
  INTERNAL_ERROR: 'Internal Server Error',
  BAD_GATEWAY: 'Bad Gateway',
};

/** The code of an export error, by status. */
const codeOfStatus = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FEATURE_NOT_AVAILABLE',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  416: 'RANGE_NOT_SATISFIABLE',
  422: 'INVALID_CONTENT',
  429: 'TOO_MANY_REQUESTS',
} as const satisfies Record<number, ErrorCode>;
const exampleTime = new Date('2026-11-21T11:03:46.025Z');

const exportErrorBody = z
  .strictObject({
    error: z.string().min(1).meta({ description: 'A short title.' }),
    message: z.string().min(1).meta({ description: 'What is wrong, for people.' }),
    code: z
      .enum([...Object.values(codeOfStatus), 'FORBIDDEN', 'METHOD_NOT_ALLOWED', 'INTERNAL_ERROR'])
      .meta({ description: 'For programs: it stays the same when a message changes.' }),
    timestamp: z.iso.datetime().meta({ description: 'When it happened.' }),
  })
  .meta({ id: 'ExportError', description: 'A failure of an export.' });

/** The format of the export endpoints, which adds a title, a machine-readable code and the time. */
export const exportErrors: ErrorFormat = jsonErrors(
  'An unexpected error occurred while generating the export',
  exportErrorBody,
  (code, message, now = new Date()) => ({
    error: errorTitles[code],
    message,
    code,
    timestamp: now.toISOString(),
  }),
);

function jsonErrors(
  unexpected: string,
  schema: z.ZodType,
  present: (code: ErrorCode, message: string, now?: Date) => object,
): ErrorFormat {
  return {
    unexpected,
    render: () =>
      respondToErrors((ctx, failure) => {
        ctx.body = present(failure.code, publicMessage(failure, unexpected));
      }),
    content(status, texts, codes = {}) {
      const examples: ZodOpenApiExamplesObject = {};
      for (const [index, text] of texts.entries()) {
        const value = present(codes[text] ?? codeOf(status), text, exampleTime);
        examples[`text${index + 1}`] = { summary: text, value };
      }
      return { 'application/json': { schema, examples } };
    },
  };
}

const commonErrors = apiErrors('An unexpected error occurred');

function publicMessage({ expose, message, publicMessage: text }: LecternError, unexpected: string): string {
  return expose ? message : (text ?? unexpected);
}

function codeOf(status: number): ErrorCode {
  return (codeOfStatus as Partial<Record<number, ErrorCode>>)[status] ?? 'INTERNAL_ERROR';
}
