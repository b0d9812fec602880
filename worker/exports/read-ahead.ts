/**
 * Starts the next few tasks before their turn and yields their results in order, so that whoever uses one need not
 * wait for the next to begin.
 *
 * @param ahead how many tasks run beyond the one that is used now: what they open is open at most that often.
 * @param release gives back a result that nobody will use, when the reader stops early.
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
    // It is awaited when its turn comes; failing before that must not count as unhandled.
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
