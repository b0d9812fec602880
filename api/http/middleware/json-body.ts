import type { Context } from 'koa';
import type { z } from 'zod';
import type { ZodOpenApiExamplesObject } from 'zod-openapi';
import { LecternError } from '../../../shared/platform/errors.ts';
import { maxJsonDepth } from '../../../shared/lessons/json-values.ts';
import { jsonFault, maxJsonCommas, maxJsonDigits, maxJsonParts } from '../../../shared/platform/json-text.ts';
import type { RequestBody } from '../endpoint.ts';
import { faultTexts } from '../fault-texts.ts';
import { failure } from '../responses.ts';
import { isPlainUtf8, readBytes, tooLargeText } from './request-bytes.ts';
import type { BodyLimits } from './request-bytes.ts';

const notJsonText = 'Request body must be valid JSON';
/** Such bodies take long to parse. */
export const tooManyPartsText = `Request body must have at most ${maxJsonParts} objects, arrays and members of objects, ${maxJsonCommas} commas, and ${maxJsonDigits} digits in a number`;
const noTypeText = 'The header Content-Type is missing. Send the body with Content-Type: application/json';
const wrongTypeText =
  'The body must be JSON in UTF-8 with Content-Type: application/json, and without Content-Encoding';

const jsonType = /^application\/(?:json|[\w.!#$&^+-]+\+json)$/;

/** Keeps a byte order mark, which then is a syntax error, as RFC 8259 requires. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the JSON body of a request and returns its text unchanged, because Lectern stores JSON values byte for byte. The
 * text is valid JSON with at most `maxJsonDepth` levels. Compressed bodies are rejected.
 *
 * It drains a rejected body, up to the server's request timeout: some clients send everything before they read the
 * response.
 *
 * @throws {LecternError} INVALID_CONTENT if the body is not JSON in UTF-8; the errors of {@link readBytes}.
 */
export async function readJsonBody(
  ctx: Pick<Context, 'req' | 'res' | 'request'>,
  limits: BodyLimits,
): Promise<string> {
  try {
    assertJsonType(ctx.request);
    return jsonTextOf(await readBytes(ctx, limits));
  } catch (error) {
    ctx.req.resume();
    throw error;
  }
}

/** @throws {LecternError} INVALID_CONTENT or PAYLOAD_TOO_LARGE. */
function jsonTextOf(bytes: Buffer): string {
  const text = decode(bytes);
  const fault = jsonFault(text, maxJsonDepth);
  if (fault === 'size') throw new LecternError('PAYLOAD_TOO_LARGE', tooManyPartsText);
  if (fault !== undefined) throw notJson();
  return text;
}

function assertJsonType(request: Context['request']): void {
  const type = request.type.trim().toLowerCase();
  if (type === '') throw new LecternError('INVALID_CONTENT', noTypeText);
  if (!jsonType.test(type) || !isPlainUtf8(request)) throw new LecternError('INVALID_CONTENT', wrongTypeText);
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw notJson();
  }
}

function notJson(): LecternError {
  return new LecternError('INVALID_CONTENT', notJsonText);
}

/**
 * Describes a JSON body.
 *
 * @param options.parse parses the unchanged JSON text; throws INVALID_CONTENT.
 * @param options.faults error texts of `parse` that the schema lacks.
 */
export function jsonBody<Body>({
  maxBytes,
  schema,
  parse,
  description,
  faults = [],
  examples,
}: {
  maxBytes: number;
  schema: z.ZodType;
  parse: (text: string) => Body;
  description: string;
  faults?: readonly string[];
  examples: ZodOpenApiExamplesObject;
}): RequestBody<Body> {
  const limit = `${maxBytes / 1024} KiB`;
  return {
    contentType: 'application/json',
    description: `At most ${limit}. ${description}`,
    schema,
    examples,
    failures: {
      413: failure(
        `The body is over ${limit}, or takes long to parse.`,
        tooLargeText(maxBytes),
        tooManyPartsText,
      ),
      422: failure(
        'The body is not JSON in UTF-8 sent as `application/json`, or a field is missing or invalid.',
        notJsonText,
        noTypeText,
        wrongTypeText,
        ...faultTexts(schema),
        ...faults,
      ),
    },
    read: async (ctx) => parse(await readJsonBody(ctx, { maxBytes })),
  };
}
