interface Callbacks {
  all: Set<() => void>;
  listener: () => void;
}

const listening = new WeakMap<AbortSignal, Callbacks>();

/**
 * Registers an abort callback; returns a function that removes it. If the signal is aborted already, the callback runs
 * in the next microtask.
 *
 * Each signal has one listener, which calls a set of callbacks: thousands of callbacks register one after another with
 * the signal of a build. Node keeps listeners in a linked list, in which removed ones still refer to later ones. Only a
 * full garbage collection would free their memory, some 4 kB a file.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    let isStopped = false;
    queueMicrotask(() => isStopped || callback());
    return () => (isStopped = true);
  }
  const callbacks = listening.get(signal) ?? listen(signal);
  callbacks.all.add(callback);
  return () => {
    if (!callbacks.all.delete(callback) || callbacks.all.size > 0) return;
    signal.removeEventListener('abort', callbacks.listener);
    listening.delete(signal);
  };
}

/** Waits for work until the signal is aborted. The work itself continues, for other callers. @throws the signal's reason */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason as Error));
    void work.then(resolve, reject).finally(stopListening);
  });
}

function listen(signal: AbortSignal): Callbacks {
  const all = new Set<() => void>();
  const listener = () => {
    for (const callback of all) callback();
  };
  signal.addEventListener('abort', listener);
  listening.set(signal, { all, listener });
  return { all, listener };
}
