import type { Context } from 'koa';
import type { z } from 'zod';
import { LecternError } from '../../../shared/platform/errors.ts';
import type { RequestBody } from '../endpoint.ts';
import { isPlainUtf8, readBytes } from './request-bytes.ts';
import type { BodyLimits } from './request-bytes.ts';

/** The fields of a form by name. */
export type Fields = ReadonlyMap<string, string>;

const formType = 'application/x-www-form-urlencoded';

/**
 * Reads the fields of a form that a browser posts. A rejected body is drained, as with JSON.
 *
 * @throws {LecternError} INVALID_CONTENT if the body is not a urlencoded form in UTF-8, or repeats a
 * field; the errors of {@link readBytes}.
 */
export async function readForm(
  ctx: Pick<Context, 'req' | 'res' | 'request'>,
  limits: BodyLimits,
): Promise<Fields> {
  try {
    const { request } = ctx;
    if (request.type.trim().toLowerCase() !== formType || !isPlainUtf8(request)) {
      throw new LecternError('INVALID_CONTENT', `Request body must be a form (${formType})`);
    }
    return readFields((await readBytes(ctx, limits)).toString());
  } catch (error) {
    ctx.req.resume();
    throw error;
  }
}

/**
 * Parses the fields of a query or a urlencoded body.
 *
 * @throws {LecternError} INVALID_CONTENT if a field is repeated: parsers disagree on which value counts.
 */
export function readFields(text: string): Fields {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw new LecternError('INVALID_CONTENT', 'A field is given more than once');
    fields.set(name, value);
  }
  return fields;
}

/** Describes a form body. @param schema for the OpenAPI document; the handler checks the fields. */
export function formBody(maxBytes: number, schema: z.ZodType): RequestBody<Fields> {
  return {
    contentType: formType,
    description: `At most ${maxBytes / 1024} KiB.`,
    schema,
    examples: {},
    failures: {},
    read: (ctx) => readForm(ctx, { maxBytes }),
  };
}
