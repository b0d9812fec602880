import { onAbort } from './abort-listeners.ts';

/**
 * What `work` resolves with, if it does so in time; the work itself goes on.
 *
 * @throws {Error} that says how long was waited.
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

interface TimeLimit {
  milliseconds: number;
  /** The caller's. */
  signal?: AbortSignal | undefined;
  /** Makes the reason of an abort for time; it is a TimeoutError unless given. */
  late?: () => Error;
}

/**
 * Does something with a signal that is aborted after so long, or when the caller's is, with its reason.
 *
 * Not AbortSignal.any with AbortSignal.timeout: that holds the latter weakly, and a deadline that was collected as
 * garbage never comes (https://github.com/nodejs/node/issues/57736); and on Node 20 a signal that lives as long as the
 * process keeps something of every other.
 *
 * @throws what `action` throws.
 */
export async function withTimeLimit<T>(
  { milliseconds, signal, late = () => tookLonger(milliseconds) }: TimeLimit,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const stop = () => ending.abort(signal?.reason);
  const timer = setTimeout(() => ending.abort(late()), milliseconds);
  const stopListening = signal && onAbort(signal, stop);
  if (signal?.aborted === true) stop();
  try {
    return await action(ending.signal);
  } finally {
    clearTimeout(timer);
    stopListening?.();
  }
}

function tookLonger(milliseconds: number): DOMException {
  return new DOMException(`not done within ${milliseconds} ms`, 'TimeoutError');
}
