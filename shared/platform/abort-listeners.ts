interface Calls {
  all: Set<() => void>;
  listener: () => void;
}

const listening = new WeakMap<AbortSignal, Calls>();

/**
 * Has a signal call something when it is aborted, until it is told to stop that.
 *
 * For signals to which thousands listen in turn, as those of builds: each has one listener, whose calls are in a set.
 * Node keeps listeners in a linked list, and one that was removed still leads to the next. So what listened lately
 * would stay in memory with what listened long ago, until a full garbage collection: some 4 kB a file.
 *
 * @returns stops it.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const calls = listening.get(signal) ?? listen(signal);
  calls.all.add(call);
  return () => {
    if (!calls.all.delete(call) || calls.all.size > 0) return;
    signal.removeEventListener('abort', calls.listener);
    listening.delete(signal);
  };
}

function listen(signal: AbortSignal): Calls {
  const all = new Set<() => void>();
  const listener = () => {
    for (const call of all) call();
  };
  signal.addEventListener('abort', listener);
  listening.set(signal, { all, listener });
  return { all, listener };
}
