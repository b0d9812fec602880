import type { Context } from 'koa';
import type { z } from 'zod';
import { LecternError } from '../../../shared/platform/errors.ts';
import type { RequestBody } from '../endpoint.ts';
import { isPlainUtf8, readBytes } from './request-bytes.ts';
import type { BodyLimits } from './request-bytes.ts';

/** The fields of a form, each given once. */
export type Fields = ReadonlyMap<string, string>;

const formType = 'application/x-www-form-urlencoded';

/**
 * Reads the fields of a form that a browser posts. A refused body is read to its end and dropped, as JSON is.
 *
 * @throws {LecternError} INVALID_CONTENT for anything but a urlencoded form in UTF-8 or a field that is given twice;
 * PAYLOAD_TOO_LARGE, BAD_REQUEST and REQUEST_TIMEOUT as {@link readBytes}.
 */
export async function readForm(
  ctx: Pick<Context, 'req' | 'res' | 'request'>,
  limits: BodyLimits,
): Promise<Fields> {
  return readFields((await readFormBytes(ctx, limits)).toString());
}

/**
 * Reads the bytes of a body that is said to be a form, for {@link readFields}: the first half of {@link readForm}.
 *
 * @throws {LecternError} as there.
 */
export async function readFormBytes(
  ctx: Pick<Context, 'req' | 'res' | 'request'>,
  limits: BodyLimits,
): Promise<Buffer> {
  try {
    const { request } = ctx;
    if (request.type.trim().toLowerCase() !== formType || !isPlainUtf8(request)) {
      throw new LecternError('INVALID_CONTENT', `Request body must be a form (${formType})`);
    }
    return await readBytes(ctx, limits);
  } catch (error) {
    ctx.req.resume();
    throw error;
  }
}

/**
 * The fields of a query or of a urlencoded body.
 *
 * @throws {LecternError} INVALID_CONTENT for one that is given twice: readers of such a text differ in which they take.
 */
export function readFields(text: string): Fields {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw new LecternError('INVALID_CONTENT', 'A field is given more than once');
    fields.set(name, value);
  }
  return fields;
}

/** Describes a form of at most `maxBytes`. @param schema for the OpenAPI document; the handler reads the fields. */
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
