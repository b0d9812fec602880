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

/**
 * Does something with a signal that is aborted after so long, with a TimeoutError, or when the caller's is.
 *
 * Not AbortSignal.any with AbortSignal.timeout: that holds the latter weakly, and a deadline that was collected as
 * garbage never comes (https://github.com/nodejs/node/issues/57736).
 *
 * @throws what `action` throws.
 */
export async function withTimeLimit<T>(
  { milliseconds, signal }: { milliseconds: number; signal?: AbortSignal | undefined },
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const stop = () => ending.abort(signal?.reason);
  const timer = setTimeout(() => {
    ending.abort(new DOMException(`not done within ${milliseconds} ms`, 'TimeoutError'));
  }, milliseconds);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();
  try {
    return await action(ending.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
