import { missingIndexes } from '../shared/models/database.ts';
import { pingMongo } from '../shared/mongo.ts';
import type { Checks } from '../shared/operations/checks.ts';
import { pingRedis } from '../shared/redis.ts';
import type { AppDependencies } from './dependencies.ts';

/** What the API needs to do its work. */
export function readinessChecks({
  db,
  redis,
  store,
}: Pick<AppDependencies, 'db' | 'redis' | 'store'>): Checks {
  return {
    mongodb: () => pingMongo(db.connection),
    indexes: async () => {
      const missing = await missingIndexes(db);
      if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
    },
    redis: () => pingRedis(redis),
    store: () => store.ping(),
  };
}
