import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { LecternError } from '../../shared/platform/errors.ts';
import type { OpenFile } from '../../shared/storage/store.ts';
import { matchesIfNoneMatch, matchesIfMatch } from '../http/etags.ts';
import parseRange from 'range-parser';

/**
 * Answers GET and HEAD with an open file as RFC 9110 has it: a strong ETag, If-Match, If-None-Match, and one Range with
 * a strong If-Range; and with the digest of the whole file (RFC 9530), also beside a part of it. Resolves when the
 * answer has ended, however it ends, and the file is closed.
 *
 * @param sha256 of the whole file, in hex: its ETag.
 * @param describe sets what other headers belong to the file; not called for an error.
 * @throws {LecternError} PRECONDITION_FAILED or RANGE_NOT_SATISFIABLE.
 */
export async function sendFile(
  ctx: Context,
  file: OpenFile,
  sha256: string,
  describe: () => void,
): Promise<void> {
  try {
    const part = partToSend(ctx, `"${sha256}"`, file.size);
    if (part !== null) {
      ctx.set('Repr-Digest', reprDigest(sha256));
      ctx.length = part.end - part.start;
    }
    describe();
    if (part !== null && ctx.method !== 'HEAD') await sendPart(ctx, file, part);
  } finally {
    await file.close();
  }
}

/** Koa would send a stream, which tells nobody when the memory of a chunk is free again. */
async function sendPart(ctx: Context, file: OpenFile, { start, end }: ByteRange): Promise<void> {
  ctx.respond = false;
  try {
    await file.send((chunk) => write(ctx.res, chunk), start, end);
    ctx.res.end();
  } catch (error) {
    // Cut off, so that nobody takes a part for the whole.
    ctx.res.destroy();
    ctx.app.emit('error', error, ctx);
  }
}

/** Resolves when the operating system has taken the bytes. */
function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // What a connection had not taken when it was cut is not always told of.
    const close = () => reject(new Error('The client went away'));
    response.once('close', close);
    response.write(chunk, (error) => {
      response.off('close', close);
      if (error) reject(error);
      else resolve();
    });
  });
}

/**
 * Sets the status and the headers that tell of a part; null for an answer that tells of none.
 *
 * @throws {LecternError} PRECONDITION_FAILED or RANGE_NOT_SATISFIABLE.
 */
function partToSend(ctx: Context, etag: string, size: number): ByteRange | null {
  if (!matchesIfMatch(ctx, etag)) {
    throw new LecternError('PRECONDITION_FAILED', `The file has changed: its ETag is now ${etag}`);
  }
  ctx.status = 200;
  ctx.set('ETag', etag);
  ctx.set('Accept-Ranges', 'bytes');
  if (matchesIfNoneMatch(ctx, etag)) {
    ctx.status = 304;
    return null;
  }
  const range = mayBePart(ctx, etag) ? byteRange(ctx.get('Range'), size) : null;
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`);
    throw new LecternError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes`);
  }
  if (range === null) return { start: 0, end: size };
  ctx.status = 206;
  ctx.set('Content-Range', `bytes ${range.start}-${range.end - 1}/${size}`);
  return range;
}

/** Of HEAD a range is not defined (RFC 9110, 14.2); If-Range allows one by the very ETag, and neither weak nor date. */
function mayBePart(ctx: Context, etag: string): boolean {
  return ctx.method === 'GET' && ['', etag].includes(ctx.get('If-Range'));
}

/** A structured field (RFC 8941): a dictionary with a byte sequence. */
function reprDigest(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;
}

/** The bytes from `start` up to but not including `end`. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * The one range that a Range header asks for. Null where the whole file is the answer: for no header, one that makes
 * no sense, another unit, or several ranges (RFC 9110, 14.2, lets a server ignore any of them).
 *
 * @param size of the file, in bytes.
 */
function byteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  // range-parser calls a suffix that is longer than the file unsatisfiable; it means all of it (RFC 9110, 14.1.2).
  const suffix = /^bytes=-(\d+)$/i.exec(header.trim())?.[1];
  if (suffix !== undefined && size > 0 && Number(suffix) > size) return { start: 0, end: size };
  const ranges = header === '' ? -2 : parseRange(size, header);
  if (ranges === -2) return null;
  if (ranges === -1) return /^bytes=/i.test(header) ? 'unsatisfiable' : null;
  const [range] = ranges;
  if (range === undefined || ranges.length > 1 || ranges.type.toLowerCase() !== 'bytes') return null;
  return { start: range.start, end: range.end + 1 };
}
