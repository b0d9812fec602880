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
import { release } from '../../shared/platform/paths.ts';
import { assertRoom, pingRedis } from '../../shared/platform/redis.ts';
import type { Store } from '../../shared/storage/store.ts';

const check = z.enum(['ok', 'failed']);

const alive = z.strictObject({ status: z.literal('ok') });
const readiness = z.strictObject({
  release: z.string().meta({ description: 'The release of Lectern.' }),
  status: z.enum(['ok', 'degraded', 'unavailable']).meta({
    description: '`degraded`: the process serves all requests that do not need the failed dependencies.',
  }),
  checks: z.strictObject({
    mongodb: check.optional(),
    indexes: check.optional(),
    redis: check.optional().meta({ description: 'Also fails if Redis is full and rejects writes.' }),
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
      200: json('The process is ready. Without Redis or the store, it is also degraded.', readiness, {
        ready: { value: { release, status: 'ok', checks: ready } },
        redisIsAway: { value: { release, status: 'degraded', checks: { ...ready, redis: 'failed' } } },
      }),
      503: json('MongoDB does not respond, or the process is shutting down.', readiness, {
        shuttingDown: { value: { release, status: 'unavailable', checks: { shutdown: 'failed' } } },
      }),
    },
  },
  ({ readiness: probe }: { readiness: ReadinessProbe }) =>
    async () => {
      const state = await probe.read();
      return { status: state.status === 'unavailable' ? 503 : 200, body: { release, ...state } };
    },
);

/** The check takes a query for each collection, and only operators drop indexes. */
const indexesGoodForMs = 10 * 60_000;

/** Returns the readiness checks of the API. */
export function readinessChecks({ db, redis, store }: { db: Database; redis: Redis; store: Store }): Checks {
  return {
    mongodb: { required: true, run: () => pingMongo(db.connection) },
    indexes: {
      goodForMs: indexesGoodForMs,
      run: async () => {
        const missing = await missingIndexes(db);
        if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
      },
    },
    redis: { run: async () => assertRoom(await pingRedis(redis)) },
    store: { run: () => store.ping() },
  };
}
