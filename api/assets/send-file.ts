import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { LecternError } from '../../shared/errors.ts';
import type { OpenFile } from '../../shared/storage/store.ts';
import { byteRange } from './byte-range.ts';

/**
 * Answers GET and HEAD with an open file as RFC 9110 has it: a strong ETag, If-None-Match, and one Range with a strong
 * If-Range. The file is closed when the answer has ended, however it ends.
 *
 * @param sha256 of the whole file: its ETag.
 * @throws {LecternError} RANGE_NOT_SATISFIABLE; headers that belong to the file are best set behind this.
 */
export function sendFile(ctx: Context, file: OpenFile, sha256: string): void {
  const close = () => void file.close();
  // A client that went away while the file was opened closes nothing any more.
  if (ctx.res.closed) {
    close();
    return;
  }
  ctx.res.once('close', close);
  const etag = `"${sha256}"`;
  ctx.status = 200;
  ctx.set('ETag', etag);
  ctx.set('Accept-Ranges', 'bytes');
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const range = requestedRange(ctx, etag, file.size);
  const { start, end } = range ?? { start: 0, end: file.size };
  if (range !== null) {
    ctx.status = 206;
    ctx.set('Content-Range', `bytes ${start}-${end - 1}/${file.size}`);
  }
  ctx.body = Readable.from(file.chunks(start, end), { objectMode: false });
  ctx.length = end - start;
}

function requestedRange(ctx: Context, etag: string, size: number) {
  // Of HEAD a range is not defined (RFC 9110, 14.2).
  if (ctx.method !== 'GET') return null;
  const ifRange = ctx.get('If-Range');
  // A weak validator never allows a part, and neither does a date: there is no Last-Modified to compare it with.
  if (ifRange !== '' && ifRange !== etag) return null;
  const range = byteRange(ctx.get('Range'), size);
  if (range !== 'unsatisfiable') return range;
  ctx.set('Content-Range', `bytes */${size}`);
  throw new LecternError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes`);
}
