/** More keys than these are asked for in several queries. */
const maxKeys = 256;

interface Batch<Key, Found> {
  keys: Key[];
  found: Promise<(key: Key) => Found>;
}

/**
 * A look-up by key that many requests make at once: those of one turn of the event loop share one query. On a busy
 * process that is several times as fast, for a round trip costs more than what it fetches.
 *
 * Nothing is remembered. Who asks joins a query only as long as it is not sent, so no answer is older than its
 * question: whatever was revoked, changed or deleted before a request is seen by it. What is found may be shared, and
 * must not be changed.
 *
 * @param find the query; it gives what tells the answer to each of its keys.
 */
export function batched<Db extends object, Key, Found>(
  find: (db: Db, keys: readonly Key[]) => Promise<(key: Key) => Found>,
): (db: Db, key: Key) => Promise<Found> {
  const waiting = new WeakMap<Db, Batch<Key, Found>>();
  const start = (db: Db): Batch<Key, Found> => {
    const keys: Key[] = [];
    const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (waiting.get(db)?.keys === keys) waiting.delete(db);
      return find(db, keys);
    });
    return { keys, found };
  };
  return async (db, key) => {
    let batch = waiting.get(db);
    if (batch === undefined || batch.keys.length >= maxKeys) {
      batch = start(db);
      waiting.set(db, batch);
    }
    batch.keys.push(key);
    return (await batch.found)(key);
  };
}
