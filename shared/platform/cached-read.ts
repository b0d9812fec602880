/**
 * Returns a function that reads something for callers at any rate. Callers share a read that is under way, and its
 * result is kept for a while. A failure is not kept.
 *
 * @param keepMs returns how long a result is kept from its arrival on, in milliseconds.
 */
export function cachedRead<T>(read: () => Promise<T>, keepMs: (result: T) => number): () => Promise<T> {
  let running: Promise<T> | null = null;
  let last: { result: T; until: number } | null = null;
  const run = async (): Promise<T> => {
    const result = await read();
    last = { result, until: performance.now() + keepMs(result) };
    return result;
  };
  return async () => {
    if (last !== null && performance.now() < last.until) return last.result;
    running ??= run().finally(() => (running = null));
    return running;
  };
}
