import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { LecternError } from '../../shared/platform/errors.ts';
import type { OpenFile, StoredArchive } from '../../shared/storage/store.ts';
import { matchesIfNoneMatch, matchesIfMatch } from '../http/etags.ts';
import { leaveToProxy } from './leave-to-proxy.ts';
import type { ProxyDependencies } from './leave-to-proxy.ts';
import parseRange from 'range-parser';

/** The lifetime of a URL that clients follow at once. Clocks may differ. */
const bucketUrlSeconds = 300;

/**
 * Responds to GET and HEAD with an open file as RFC 9110 defines: a strong ETag, If-Match, If-None-Match, and one Range
 * with a strong If-Range. Adds the digest of the whole file (RFC 9530), even to a part. Resolves when the response has
 * ended and the file is closed. With S3_PRESIGNED_READS, clients get archives from the bucket. Otherwise the proxy in
 * front may send the file: see {@link leaveToProxy}.
 *
 * @param options.sha256 of the whole file, in hex: its ETag.
 * @param options.describe sets the file's other headers; not called for an error.
 * @throws {LecternError} PRECONDITION_FAILED or RANGE_NOT_SATISFIABLE.
 */
export async function sendFile(
  ctx: Context,
  file: OpenFile | StoredArchive,
  { deps, sha256, describe }: { deps: ProxyDependencies; sha256: string; describe: () => void },
): Promise<void> {
  try {
    const part = partToSend(ctx, `"${sha256}"`, file.size);
    if (part !== null) {
      ctx.set('Repr-Digest', reprDigest(sha256));
      ctx.length = part.end - part.start;
    }
    describe();
    if (part === null || ctx.method === 'HEAD') return;
    if (await redirectToBucket(ctx, file)) return;
    if (!(await leaveToProxy(ctx, file, deps))) await sendPart(ctx, file, part);
  } finally {
    await file.close();
  }
}

/** Redirects to the URL of an archive in its bucket; returns false if it has none. */
async function redirectToBucket(ctx: Context, file: OpenFile | StoredArchive): Promise<boolean> {
  if (!('presignedUrl' in file)) return false;
  const url = await file.presignedUrl({
    seconds: bucketUrlSeconds,
    contentType: ctx.response.get('Content-Type'),
    contentDisposition: ctx.response.get('Content-Disposition'),
  });
  if (url === null) return false;
  for (const name of ['Accept-Ranges', 'Content-Disposition', 'Content-Length', 'Content-Range'])
    ctx.remove(name);
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(url);
  ctx.body = '';
  return true;
}

/** Koa would send a stream, which does not report when a chunk's memory can be reused. */
async function sendPart(ctx: Context, file: OpenFile, { start, end }: ByteRange): Promise<void> {
  ctx.respond = false;
  try {
    await file.send((chunk) => write(ctx.res, chunk), start, end);
    ctx.res.end();
  } catch (error) {
    // The client must not take a part for the whole.
    ctx.res.destroy();
    ctx.app.emit('error', error, ctx);
  }
}

/** Resolves when the operating system has accepted the bytes. */
function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // Node does not call back for all bytes that were pending when the connection closed.
    const close = () => reject(new Error('The client disconnected'));
    response.once('close', close);
    response.write(chunk, (error) => {
      response.off('close', close);
      if (error) reject(error);
      else resolve();
    });
  });
}

/**
 * Sets the status and headers of a part; returns null for a response without a body part.
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
  const range = allowsRange(ctx, etag) ? byteRange(ctx.get('Range'), size) : null;
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`);
    throw new LecternError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes`);
  }
  if (range === null) return { start: 0, end: size };
  ctx.status = 206;
  ctx.set('Content-Range', `bytes ${range.start}-${range.end - 1}/${size}`);
  return range;
}

/** RFC 9110 (14.2) defines no range for HEAD. If-Range allows a range only with the exact strong ETag. */
function allowsRange(ctx: Context, etag: string): boolean {
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
 * Returns the single range that a Range header requests. Null means the whole file: no header, an invalid one, another
 * unit, or several ranges, which a server may ignore (RFC 9110, 14.2).
 *
 * @param size of the file, in bytes.
 */
function byteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  // range-parser treats a suffix longer than the file as unsatisfiable; RFC 9110 (14.1.2) defines it as the whole file.
  const suffix = /^bytes=-(\d+)$/i.exec(header.trim())?.[1];
  if (suffix !== undefined && size > 0 && Number(suffix) > size) return { start: 0, end: size };
  const ranges = header === '' ? -2 : parseRange(size, header);
  if (ranges === -2) return null;
  if (ranges === -1) return /^bytes=/i.test(header) ? 'unsatisfiable' : null;
  const [range] = ranges;
  if (range === undefined || ranges.length > 1 || ranges.type.toLowerCase() !== 'bytes') return null;
  return { start: range.start, end: range.end + 1 };
}
