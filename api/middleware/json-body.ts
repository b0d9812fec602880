import type { Context } from 'koa';
import getRawBody from 'raw-body';
import { LecternError } from '../../shared/errors.ts';
import { findJsonFault } from '../../shared/packages/json-syntax.ts';

const jsonType = /^application\/(?:json|[\w.!#$&^+-]+\+json)$/;

/** A byte order mark stays, and is then a fault of the JSON, as RFC 8259 has it. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the JSON body of a request and gives its text as it was sent, since JSON values are kept byte for byte. What
 * it gives is good for JSON.parse, and nested no deeper than `maxJsonDepth`. A compressed body is not taken.
 *
 * A refused body is read to its end and dropped, up to the server's request timeout, so that a client which sends all
 * before it reads gets the answer.
 *
 * @throws {LecternError} PAYLOAD_TOO_LARGE over `maxBytes`, INVALID_CONTENT for anything but JSON in UTF-8.
 */
export async function readJsonBody(
  ctx: Pick<Context, 'req' | 'res' | 'request'>,
  { maxBytes }: { maxBytes: number },
): Promise<string> {
  try {
    assertJsonIsSent(ctx.request);
    const text = decode(await readBytes(ctx, maxBytes));
    // It is as fast as JSON.parse on what is good, and a hundred times faster on a megabyte of brackets.
    if (findJsonFault(text) !== undefined) throw notJson();
    return text;
  } catch (error) {
    ctx.req.resume();
    throw error;
  }
}

function assertJsonIsSent(request: Context['request']): void {
  const coding = request.get('Content-Encoding').trim().toLowerCase();
  if (coding !== '' && coding !== 'identity') throw notJson();
  if (!jsonType.test(request.type.trim().toLowerCase())) throw notJson();
  if (!/^(?:utf-?8)?$/i.test(request.charset)) throw notJson();
}

async function readBytes({ req, res }: Pick<Context, 'req' | 'res'>, maxBytes: number): Promise<Buffer> {
  const tooLarge = () =>
    new LecternError('PAYLOAD_TOO_LARGE', `Request body must be at most ${maxBytes} bytes`);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
  try {
    return await getRawBody(req, { limit: maxBytes });
  } catch (error) {
    const { type } = error as getRawBody.RawBodyError;
    if (type === 'entity.too.large') throw tooLarge();
    if (type !== 'request.aborted') throw error;
    throw new LecternError('BAD_REQUEST', 'The request ended before its body did', { cause: error });
  }
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw notJson();
  }
}

function notJson(): LecternError {
  return new LecternError('INVALID_CONTENT', 'Request body must be valid JSON');
}
