import { NoAnswer } from './faults.ts';

const firstPauseMilliseconds = 50;
const longestPauseMilliseconds = 2_000;

/** Does something whose signal is aborted after so long. @throws {NoAnswer} then. */
export async function withDeadline<T>(
  milliseconds: number,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), milliseconds);
  try {
    return await action(over.signal);
  } catch (error) {
    throw over.signal.aborted ? new NoAnswer(milliseconds) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Longer with every try, and never the same for all who wait for the same service. */
export function pauseBefore(tries: number): number {
  const longest = Math.min(firstPauseMilliseconds * 2 ** tries, longestPauseMilliseconds);
  return longest * (0.5 + Math.random() / 2);
}
