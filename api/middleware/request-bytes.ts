import type { Context } from 'koa';
import getRawBody from 'raw-body';
import { LecternError } from '../../shared/errors.ts';

/**
 * The body of a request. A client that asked whether to send it is told to.
 *
 * @throws {LecternError} PAYLOAD_TOO_LARGE over `maxBytes`, BAD_REQUEST when it ends early.
 */
export async function readBytes(
  { req, res }: Pick<Context, 'req' | 'res'>,
  maxBytes: number,
): Promise<Buffer> {
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

/** Whether a body comes in UTF-8 and as it is, not compressed. */
export function isPlainUtf8(request: Context['request']): boolean {
  const coding = request.get('Content-Encoding').trim().toLowerCase();
  return (coding === '' || coding === 'identity') && /^(?:utf-?8)?$/i.test(request.charset);
}
