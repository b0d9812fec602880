import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { Server } from '@tus/server';
import type { Redis } from 'ioredis';
import type { Uploads } from '../../shared/imports/uploads.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { ErrorCode } from '../../shared/platform/errors.ts';
import { allowLongBody } from '../http/http-server.ts';
import { watchPace } from '../http/middleware/request-bytes.ts';
import type { BodyPace } from '../http/middleware/request-bytes.ts';
import { UploadLocker } from './upload-lock.ts';

/** The version of the tus protocol. */
export const tusVersion = '1.0.0';

/** An upload may pause this long: a store may be slow, and clients on trains lose the network for a while. */
const uploadPace: BodyPace = { checkMs: 5_000, maxIdleChecks: 12, largeBytes: Infinity, minBytes: 0 };

/** How long a request whose upload another one wants may still take to store its bytes. */
const drainMs = 1_000;

/** The headers that the library reads. */
const tusHeaders = ['content-type', 'content-length', 'tus-resumable', 'upload-offset'];

const codes: Record<number, ErrorCode> = {
  403: 'BAD_REQUEST',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  410: 'NOT_FOUND',
  413: 'PAYLOAD_TOO_LARGE',
  423: 'LOCKED',
  500: 'INTERNAL_ERROR',
};

/** The tus library behind Koa's requests, without its creation of uploads, which the endpoint does itself. */
export class UploadRequests {
  readonly #server: Server;
  readonly #uploads: Uploads;
  readonly locker: UploadLocker;

  constructor(uploads: Uploads, redis: Redis, { redisPrefix }: Pick<Config, 'redisPrefix'>) {
    this.#uploads = uploads;
    this.locker = new UploadLocker(redis, redisPrefix);
    this.#server = new Server({
      path: '/',
      datastore: uploads.tus,
      locker: this.locker,
      lockDrainTimeout: drainMs,
      getFileIdFromRequest: (_request, importId) =>
        importId === undefined ? undefined : uploads.fileId(importId),
    });
  }

  /**
   * Runs a HEAD or PATCH request on an upload that the caller may use.
   *
   * @returns the received bytes.
   * @throws {LecternError} with the library's reason.
   */
  async run(ctx: Context, importId: string): Promise<number> {
    const headers = new Headers();
    for (const name of tusHeaders) {
      const value = ctx.get(name);
      if (value !== '') headers.set(name, value);
    }
    const hasBody = ctx.method === 'PATCH';
    if (hasBody) allowLongBody(ctx.req);
    if (hasBody && ctx.req.headers.expect !== undefined) ctx.res.writeContinue();
    const body = hasBody ? Readable.toWeb(Readable.from(pacedBody(ctx.req), { objectMode: false })) : null;
    const request = new Request(`http://uploads/${importId}`, {
      method: ctx.method,
      headers,
      ...(body !== null && { body: body as ReadableStream, duplex: 'half' }),
    });
    const response = await this.#server.handleWeb(request);
    if (response.ok) return Number(response.headers.get('upload-offset'));
    // The rest of the body is not read.
    if (hasBody) ctx.set('Connection', 'close');
    throw new LecternError(codes[response.status] ?? 'BAD_REQUEST', (await response.text()).trim());
  }

  /** Deletes an upload, after it has ended the request that writes it. */
  async remove(importId: string): Promise<void> {
    const lock = this.locker.newLock(this.#uploads.fileId(importId));
    await lock.lock(new AbortController().signal, () => undefined);
    try {
      await this.#uploads.remove(importId);
    } finally {
      await lock.unlock();
    }
  }
}

/**
 * Passes on the body of a request. Ends the request if no bytes arrive for a minute. A broken connection ends the body
 * without an error, so that the library stores all bytes that have arrived: the client continues after them.
 */
async function* pacedBody(request: Context['req']): AsyncGenerator<Buffer> {
  let arrived = 0;
  const stopWatching = watchPace(
    uploadPace,
    () => arrived,
    () => request.destroy(new Error('the upload stalled')),
  );
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      arrived += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (!request.destroyed) throw error;
  } finally {
    stopWatching();
  }
}
