import { onAbort } from './abort-listeners.ts';

interface TimeLimit {
  timeoutMs: number;
  /** The caller's signal. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits for `work` until a timeout. The work itself continues after it.
 *
 * @param limit.late returns the result after the timeout, or throws; by default, it throws an error.
 * @throws the errors of `work` and `late`; the reason of the caller's signal if that is aborted first.
 */
export async function withDeadline<T, Late = never>(
  work: Promise<T>,
  { timeoutMs, signal, late }: TimeLimit & { late?: () => Late },
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'late');
  });
  let stopListening: (() => void) | undefined;
  const races: Promise<{ result: T } | 'late'>[] = [work.then((result) => ({ result })), deadline];
  if (signal !== undefined) {
    races.push(
      new Promise<never>((_, reject) => {
        stopListening = onAbort(signal, () => reject(signal.reason as Error));
      }),
    );
  }
  try {
    const first = await Promise.race(races);
    if (first !== 'late') return first.result;
    if (late !== undefined) return late();
    throw new Error(`no response within ${timeoutMs} ms`);
  } finally {
    clearTimeout(timer);
    stopListening?.();
  }
}

/**
 * Runs `action` with a signal that is aborted after a timeout, or with the caller's signal for the same reason.
 *
 * It does not use AbortSignal.any with AbortSignal.timeout. That holds the timeout weakly, and once it is garbage
 * collected, it never fires (https://github.com/nodejs/node/issues/57736). On Node 20, it also leaks memory if a signal
 * lives as long as the process.
 *
 * @param limit.late returns the abort reason after the timeout; by default, a TimeoutError.
 * @throws the errors of `action`.
 */
export async function withTimeLimit<T>(
  { timeoutMs, signal, late = () => tookLonger(timeoutMs) }: TimeLimit & { late?: () => Error },
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const stop = () => ending.abort(signal?.reason);
  const timer = setTimeout(() => ending.abort(late()), timeoutMs);
  const stopListening = signal && onAbort(signal, stop);
  if (signal?.aborted === true) stop();
  try {
    return await action(ending.signal);
  } finally {
    clearTimeout(timer);
    stopListening?.();
  }
}

function tookLonger(timeoutMs: number): DOMException {
  return new DOMException(`not done within ${timeoutMs} ms`, 'TimeoutError');
}
