import DataLoader from 'dataloader';

/** Keys per query. */
const maxBatchSize = 256;

/**
 * Returns a lookup by key for many concurrent requests: the lookups of one turn of the event loop share one query. On a
 * busy process that is several times as fast, because a round trip costs more than the data.
 *
 * Nothing is cached. A lookup joins a query only until it is sent, so it sees every earlier revocation, change and
 * deletion. Callers may share results and must not change them.
 *
 * @param find the query; it returns a function that finds the result for each key.
 */
export function batched<Db extends object, Key, Found>(
  find: (db: Db, keys: readonly Key[]) => Promise<(key: Key) => Found>,
): (db: Db, key: Key) => Promise<Found> {
  const loaders = new WeakMap<Db, DataLoader<Key, Found>>();
  const loaderOf = (db: Db) => {
    const existing = loaders.get(db);
    if (existing !== undefined) return existing;
    const loader = new DataLoader<Key, Found>(
      async (keys) => keys.map(await find(db, keys)),
      // The default scheduler waits for promises only, so requests of different sockets would not share a batch.
      { cache: false, maxBatchSize, batchScheduleFn: (send) => void setImmediate(send) },
    );
    loaders.set(db, loader);
    return loader;
  };
  return (db, key) => loaderOf(db).load(key);
}
