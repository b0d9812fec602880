import { finished } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';

/** How fast a body has to arrive. A client that stalls would otherwise hold memory until the request times out. */
export interface BodyPace {
  /** Milliseconds between two checks. */
  checkMs: number;
  /** Checks in a row without a new byte that end a body. */
  idleChecks: number;
  /** A body counts as large when more than this has arrived. */
  largeBytes: number;
  /** Bytes that a large body must bring between two checks. */
  leastBytes: number;
}

/** At this pace, a client sends less than 200 KiB before REQUEST_TIMEOUT_SECONDS (30) ends its request anyway. */
const defaultPace: BodyPace = {
  checkMs: 5000,
  idleChecks: 2,
  largeBytes: 64 * 1024,
  leastBytes: 32 * 1024,
};

export interface BodyLimits {
  maxBytes: number;
  pace?: BodyPace;
  /** Called with the bytes that have arrived so far, before the latest are kept. The body is refused when it throws. */
  onArrival?: (bytes: number) => void;
}

/**
 * Reads the body of a request. A client that asked whether to send it gets 100 Continue. What has arrived of a body
 * that is refused is dropped at once.
 *
 * @throws {LecternError} PAYLOAD_TOO_LARGE over `maxBytes`, BAD_REQUEST when it ends early, REQUEST_TIMEOUT when it
 * stalls; and what `onArrival` throws.
 */
export async function readBytes(
  { req, res }: Pick<Context, 'req' | 'res'>,
  { maxBytes, pace = defaultPace, onArrival = () => undefined }: BodyLimits,
): Promise<Buffer> {
  const tooLarge = () => new LecternError('PAYLOAD_TOO_LARGE', tooLargeText(maxBytes));
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
  return collect(req, pace, (bytes) => {
    if (bytes > maxBytes) throw tooLarge();
    onArrival(bytes);
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

/** Calls `onStall` when too little arrives; returns a function that ends the watch. */
function watchPace(pace: BodyPace, arrived: () => number, onStall: () => void): () => void {
  let isOver = false;
  let before = 0;
  let idleChecks = 0;
  const check = () => {
    if (isOver) return;
    const total = arrived();
    const since = total - before;
    before = total;
    idleChecks = since === 0 ? idleChecks + 1 : 0;
    const isSlow = total > pace.largeBytes && since < pace.leastBytes;
    if (isSlow || idleChecks >= pace.idleChecks) onStall();
  };
  // A process that was busy first reads what has arrived in the meantime.
  const timer = setInterval(() => setImmediate(check), pace.checkMs);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

/** The text of a 413. */
export function tooLargeText(maxBytes: number): string {
  return `Request body must be at most ${maxBytes} bytes`;
}

/** Whether a body comes in UTF-8 and as it is, not compressed. */
export function isPlainUtf8(request: Context['request']): boolean {
  const coding = request.get('Content-Encoding').trim().toLowerCase();
  return (coding === '' || coding === 'identity') && /^(?:utf-?8)?$/i.test(request.charset);
}
