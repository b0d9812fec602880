import { Redis } from 'ioredis';
import { createRouters } from '../../api/app.ts';
import type { AppDependencies } from '../../api/dependencies.ts';
import { createRateLimits } from '../../api/http/middleware/rate-limit.ts';
import { routesOf } from '../../api/http/table.ts';
import type { Route } from '../../api/http/table.ts';
import type { Harness } from '../support/harness.ts';

/** The endpoints of the API, as its routers have them. They are made to be listed, and serve nobody. */
export function apiRoutes({ config, db, store }: Pick<Harness, 'config' | 'db' | 'store'>): Route[] {
  const redis = new Redis({ lazyConnect: true });
  const deps: Partial<AppDependencies> = { config, db, store, redis, rateLimits: createRateLimits(config) };
  return routesOf(createRouters(deps as AppDependencies));
}
