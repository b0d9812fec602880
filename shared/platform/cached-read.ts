/**
 * Returns a function that caches the result of `read`. Concurrent calls share one read. Failures are not cached.
 *
 * @param keepMs returns how long to cache a result, in milliseconds.
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
