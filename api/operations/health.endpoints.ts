import { z } from 'zod';
import type { Checks, ReadinessProbe } from '../../shared/operations/checks.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { openAccess } from '../http/public-access.ts';
import { json } from '../http/responses.ts';
import type { Redis } from 'ioredis';
import { missingIndexes } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import { pingMongo } from '../../shared/platform/mongo.ts';
import { pingRedis } from '../../shared/platform/redis.ts';
import type { Store } from '../../shared/storage/store.ts';

const check = z.enum(['ok', 'failed']);

const alive = z.strictObject({ status: z.literal('ok') });
const readiness = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  checks: z.strictObject({
    mongodb: check.optional(),
    indexes: check.optional(),
    redis: check.optional(),
    store: check.optional(),
    shutdown: z.literal('failed').optional().meta({ description: 'Alone, while the process ends.' }),
  }),
});

const common = { method: 'get', access: openAccess, errors: apiErrors(), tag: 'Service' } as const;
const ready = { mongodb: 'ok', indexes: 'ok', redis: 'ok', store: 'ok' };

/** GET /health/live: the liveness probe. */
export const isAlive = defineEndpoint(
  {
    ...common,
    path: '/health/live',
    operationId: 'isAlive',
    summary: 'Check that the process is alive',
    responses: { 200: json('The process is alive.', alive, { alive: { value: { status: 'ok' } } }) },
  },
  () => () => ({ status: 200, body: { status: 'ok' } }),
);

/** GET /health/ready: the readiness probe. */
export const isReady = defineEndpoint(
  {
    ...common,
    path: '/health/ready',
    operationId: 'isReady',
    summary: 'Check that the process is ready',
    description: 'Results are cached for up to 3 seconds, so any number of clients may poll.',
    responses: {
      200: json('The process is ready.', readiness, { ready: { value: { status: 'ok', checks: ready } } }),
      503: json('A dependency fails, or the process is shutting down.', readiness, {
        redisIsAway: { value: { status: 'unavailable', checks: { ...ready, redis: 'failed' } } },
      }),
    },
  },
  ({ readiness: probe }: { readiness: ReadinessProbe }) =>
    async () => {
      const { ready: isGood, checks } = await probe.read();
      return isGood
        ? { status: 200, body: { status: 'ok', checks } }
        : { status: 503, body: { status: 'unavailable', checks } };
    },
);

/** The check takes a query for each collection, and only operators drop indexes. */
const indexesGoodForMs = 10 * 60_000;

/** Returns the readiness checks of the API. */
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
