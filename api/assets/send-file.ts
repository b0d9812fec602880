import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { LecternError } from '../../shared/errors.ts';
import type { OpenFile } from '../../shared/storage/store.ts';
import { isKnown } from '../etags.ts';
import { byteRange } from './byte-range.ts';
import type { ByteRange } from './byte-range.ts';

/**
 * Answers GET and HEAD with an open file as RFC 9110 has it: a strong ETag, If-None-Match, and one Range with a
 * strong If-Range; and with the digest of the whole file (RFC 9530), also beside a part of it. The file is closed when
 * the answer has ended, however it ends.
 *
 * @param sha256 of the whole file, in hex: its ETag.
 * @throws {LecternError} RANGE_NOT_SATISFIABLE; headers that belong to the file are best set behind this.
 */
export async function sendFile(ctx: Context, file: OpenFile, sha256: string): Promise<void> {
  const part = partToSend(ctx, `"${sha256}"`, file.size);
  if (part === null || part === 'unsatisfiable') await file.close();
  if (part === 'unsatisfiable') {
    throw new LecternError('RANGE_NOT_SATISFIABLE', `The file has ${file.size} bytes`);
  }
  if (part === null) return;
  ctx.set('Repr-Digest', reprDigest(sha256));
  const body = Readable.from(file.chunks(part.start, part.end), { objectMode: false });
  // Koa destroys a body as soon as the response has ended, also when that was before it was given one.
  ctx.body = body.once('close', () => void file.close());
  ctx.length = part.end - part.start;
}

/** Sets the status and the headers that tell of a part; null for an answer without a body. */
function partToSend(ctx: Context, etag: string, size: number): ByteRange | 'unsatisfiable' | null {
  ctx.status = 200;
  ctx.set('ETag', etag);
  ctx.set('Accept-Ranges', 'bytes');
  if (isKnown(ctx, etag)) {
    ctx.status = 304;
    return null;
  }
  const range = mayBePart(ctx, etag) ? byteRange(ctx.get('Range'), size) : null;
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`);
    return range;
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
