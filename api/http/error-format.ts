import type { Middleware } from 'koa';
import { z } from 'zod';
import type { ZodOpenApiContentObject, ZodOpenApiExamplesObject } from 'zod-openapi';
import { codeOfStatus } from '../../shared/platform/errors.ts';
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

const text = z.string().min(1).meta({ description: 'What is wrong, for people.' });
const code = z.string().meta({
  description: 'For programs: as the header `Error-Code`.',
  examples: ['NOT_FOUND'] satisfies ErrorCode[],
});

/** The body of an API error. */
const errorBody = z.strictObject({ error: text, code }).meta({ id: 'Error', description: 'A failure.' });

const textBody = z
  .strictObject({ error: text })
  .meta({ id: 'ErrorText', description: 'A failure. Its code is in the header `Error-Code`.' });

export function presentError(errorCode: ErrorCode, message: string): z.input<typeof errorBody> {
  return { error: message, code: errorCode };
}

/** Returns the format of most endpoints: `{"error": "…", "code": "…"}`. */
export function apiErrors(): ErrorFormat {
  return commonErrors;
}

/** Returns the format of endpoints whose errors have exactly one field: `{"error": "…"}`. @param unexpected the text of a 500. */
export function textErrors(unexpected: string): ErrorFormat {
  return jsonErrors(unexpected, textBody, (_code, message) => ({ error: message }));
}

const errorTitles: Record<ErrorCode, string> = {
  BAD_REQUEST: 'Bad Request',
  UNAUTHORIZED: 'Authentication Error',
  CODE_REQUIRED: 'Authentication Error',
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
  HEADERS_TOO_LARGE: 'Request Header Fields Too Large',
  INTERNAL_ERROR: 'Internal Server Error',
  NOT_IMPLEMENTED: 'Not Implemented',
  BAD_GATEWAY: 'Bad Gateway',
  UNAVAILABLE: 'Service Unavailable',
};

/** The codes of errors of exports. */
const exportCodes: ErrorCode[] = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'FEATURE_NOT_AVAILABLE',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
  'PRECONDITION_FAILED',
  'RANGE_NOT_SATISFIABLE',
  'INVALID_CONTENT',
  'TOO_MANY_REQUESTS',
  'INTERNAL_ERROR',
];
const exampleTime = new Date('2026-11-21T11:03:46.025Z');

const exportErrorBody = z
  .strictObject({
    error: z.string().min(1).meta({ description: 'A short title.' }),
    message: z.string().min(1).meta({ description: 'What is wrong, for people.' }),
    code: z
      .enum(exportCodes)
      .meta({ description: 'For programs: it stays the same when a message changes.' }),
    timestamp: z.iso.datetime().meta({ description: 'When it happened.' }),
  })
  .meta({ id: 'ExportError', description: 'A failure of an export.' });

/** The format of the export endpoints, which adds a title, a machine-readable code and the time. */
export const exportErrors: ErrorFormat = jsonErrors(
  'An unexpected error occurred while generating the export',
  exportErrorBody,
  (errorCode, message, now = new Date()) => ({
    error: errorTitles[errorCode],
    message,
    code: errorCode,
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
      for (const [index, example] of texts.entries()) {
        const value = present(codes[example] ?? codeOfStatus(status), example, exampleTime);
        examples[`text${index + 1}`] = { summary: example, value };
      }
      return { 'application/json': { schema, examples } };
    },
  };
}

const commonErrors = jsonErrors('An unexpected error occurred', errorBody, presentError);

function publicMessage({ expose, message, publicMessage: own }: LecternError, unexpected: string): string {
  return expose ? message : (own ?? unexpected);
}
