import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { findMongod } from '../../shared/embedded/find-mongod.ts';
import { startMongod } from '../../shared/embedded/mongod.ts';
import type { LocalServer } from '../../shared/embedded/mongod.ts';
import { startRedis } from '../../shared/embedded/redis.ts';

/** Starts a Redis beside that of the test run, on a free port by default. */
export function startOwnRedis(port?: number): Promise<LocalServer> {
  return startRedis(join(inject('runDir'), `redis-${randomUUID()}.log`), port);
}

/** Starts a MongoDB beside that of the test run, on a free port by default. */
export async function startOwnMongod(dbPath: string, port?: number): Promise<LocalServer> {
  return startMongod(await findOwnMongod(), dbPath, port);
}

/** Returns the path of the mongod of the test run. */
export function findOwnMongod(): Promise<string> {
  return findMongod(inject('cacheDir'), () => undefined);
}
