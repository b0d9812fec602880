import type { Redis } from 'ioredis';
import type { Config } from '../platform/config.ts';
import { noFileUsage, RedisFileUsage } from '../storage/file-usage.ts';
import type { FileUsage } from '../storage/file-usage.ts';
import { createIncompleteBuilds, noIncompleteBuilds } from './incomplete-builds.ts';
import type { IncompleteBuilds } from './incomplete-builds.ts';
import { BestEffortRedis } from '../platform/best-effort-redis.ts';

/** The state of files that processes with a common store share through Redis. Losing it does no harm. */
export interface Coordination {
  usage: FileUsage;
  incomplete: IncompleteBuilds;
}

/** Replaces the coordination in a process that shares its store with no other. */
export const noCoordination: Coordination = {
  usage: noFileUsage,
  incomplete: noIncompleteBuilds,
};

/** @param redis a connection that fails fast, so that no request waits while Redis is down. */
export function createCoordination(redis: Redis, { redisPrefix }: Pick<Config, 'redisPrefix'>): Coordination {
  const bestEffort = new BestEffortRedis(redis, redisPrefix);
  return {
    usage: new RedisFileUsage(bestEffort),
    incomplete: createIncompleteBuilds(bestEffort),
  };
}
