import type { Redis } from 'ioredis';
import { missingIndexes } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import { pingMongo } from '../../shared/platform/mongo.ts';
import type { Checks } from '../../shared/operations/checks.ts';
import { pingRedis } from '../../shared/platform/redis.ts';
import type { Store } from '../../shared/storage/store.ts';

/** Comparing indexes asks MongoDB once for each collection, and they are lost by hand only. */
const indexesGoodForMs = 10 * 60_000;

/** What the API needs to do its work. */
export function readinessChecks({ db, redis, store }: { db: Database; redis: Redis; store: Store }): Checks {
  return {
    mongodb: { run: () => pingMongo(db.connection) },
    indexes: {
      goodForMs: indexesGoodForMs,
      run: async () => {
        const missing = await missingIndexes(db);
        if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
      },
    },
    redis: { run: () => pingRedis(redis) },
    store: { run: () => store.ping() },
  };
}
