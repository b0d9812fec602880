import { onAbort } from './abort-listeners.ts';

interface TimeLimit {
  timeoutMs: number;
  /** The caller's. */
  signal?: AbortSignal | undefined;
}

/**
 * Returns what `work` resolves with, if it does so in time. The work itself goes on.
 *
 * @param limit.late returns what to resolve with instead, or throws; it throws an error with the time unless given.
 * @throws what `work` or `late` throws; the reason of the caller's signal when that is aborted first.
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
    throw new Error(`no answer within ${timeoutMs} ms`);
  } finally {
    clearTimeout(timer);
    stopListening?.();
  }
}

/**
 * Runs `action` with a signal that is aborted after a time, or with the caller's signal, for the same reason.
 *
 * Not AbortSignal.any with AbortSignal.timeout: that holds the latter weakly, and a deadline that was collected as
 * garbage never comes (https://github.com/nodejs/node/issues/57736); and on Node 20 a signal that lives as long as the
 * process keeps something of every other.
 *
 * @param limit.late makes the reason of an abort for time; it is a TimeoutError unless given.
 * @throws what `action` throws.
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
