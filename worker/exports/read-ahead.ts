/**
 * Starts the next few tasks before their turn and yields their results in order, so that the consumer does not wait for
 * each one to begin.
 *
 * @param ahead the number of tasks that run beyond the current one, which limits the number of open files.
 * @param release releases the result of a started task when the consumer stops early.
 */
export async function* readAhead<T>(
  tasks: Iterable<() => Promise<T>>,
  ahead: number,
  release: (result: T) => Promise<void>,
): AsyncGenerator<T> {
  const started: Promise<T>[] = [];
  const remaining = tasks[Symbol.iterator]();
  const startNext = () => {
    const next = remaining.next();
    if (next.done === true) return;
    const task = next.value();
    // It is awaited in its turn; a failure before that must not count as unhandled.
    task.catch(() => undefined);
    started.push(task);
  };
  try {
    for (let count = 0; count <= ahead; count += 1) startNext();
    for (let task = started.shift(); task !== undefined; task = started.shift()) {
      const result = await task;
      startNext();
      yield result;
    }
  } finally {
    for (const task of started) await task.then(release, () => undefined);
  }
}
