import { finished } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';

/** The minimum pace of a body. A stalled client would otherwise hold memory until the request times out. */
export interface BodyPace {
  /** Milliseconds between two checks. */
  checkMs: number;
  /** The number of consecutive checks without a new byte after which the body is rejected. */
  maxIdleChecks: number;
  /** A body counts as large once more than this has arrived. */
  largeBytes: number;
  /** The number of bytes of a large body that must arrive between two checks. */
  minBytes: number;
}

/** A slower client could send at most 200 KiB before REQUEST_TIMEOUT_SECONDS (30) ends its request anyway. */
const defaultPace: BodyPace = {
  checkMs: 5000,
  maxIdleChecks: 2,
  largeBytes: 64 * 1024,
  minBytes: 32 * 1024,
};

export interface BodyLimits {
  maxBytes: number;
  pace?: BodyPace;
}

/**
 * Reads the body of a request; a client that sent `Expect: 100-continue` gets 100 first. The memory of a rejected body
 * is freed at once.
 *
 * @throws {LecternError} PAYLOAD_TOO_LARGE over `maxBytes`, BAD_REQUEST if the body ends early, REQUEST_TIMEOUT if it
 * stalls.
 */
export async function readBytes(
  { req, res }: Pick<Context, 'req' | 'res'>,
  { maxBytes, pace = defaultPace }: BodyLimits,
): Promise<Buffer> {
  const tooLarge = () => new LecternError('PAYLOAD_TOO_LARGE', tooLargeText(maxBytes));
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
  return collect(req, pace, (bytes) => {
    if (bytes > maxBytes) throw tooLarge();
  });
}

function collect(req: IncomingMessage, pace: BodyPace, onArrival: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let arrived = 0;
    const fail = (error: Error) => {
      stop();
      chunks = [];
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      arrived += chunk.length;
      try {
        onArrival(arrived);
      } catch (error) {
        fail(error as Error);
        return;
      }
      chunks.push(chunk);
    };
    const stopWatching = watchPace(
      pace,
      () => arrived,
      () => fail(new LecternError('REQUEST_TIMEOUT', 'The request took too long to arrive')),
    );
    const stopWaiting = finished(req, { writable: false }, (error) => {
      if (error) {
        fail(new LecternError('BAD_REQUEST', 'The request ended before its body did', { cause: error }));
        return;
      }
      stop();
      resolve(Buffer.concat(chunks));
    });
    const stop = () => {
      req.off('data', onData);
      stopWatching();
      stopWaiting();
    };
    req.on('data', onData);
  });
}

/** Calls `onStall` when too little arrives; returns a function that stops watching. */
export function watchPace(pace: BodyPace, arrived: () => number, onStall: () => void): () => void {
  let isOver = false;
  let before = 0;
  let idleChecks = 0;
  const check = () => {
    if (isOver) return;
    const total = arrived();
    const since = total - before;
    before = total;
    idleChecks = since === 0 ? idleChecks + 1 : 0;
    const isSlow = total > pace.largeBytes && since < pace.minBytes;
    if (isSlow || idleChecks >= pace.maxIdleChecks) onStall();
  };
  // setImmediate: a busy process first reads the bytes that have already arrived.
  const timer = setInterval(() => setImmediate(check), pace.checkMs);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

export function tooLargeText(maxBytes: number): string {
  return `Request body must be at most ${maxBytes} bytes`;
}

/** Returns whether a body is in UTF-8 and not compressed. */
export function isPlainUtf8(request: Context['request']): boolean {
  const coding = request.get('Content-Encoding').trim().toLowerCase();
  return (coding === '' || coding === 'identity') && /^(?:utf-?8)?$/i.test(request.charset);
}
