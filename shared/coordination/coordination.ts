import type { Redis } from 'ioredis';
import type { Config } from '../platform/config.ts';
import { createDownloadLeases, defaultLeaseMs, noLeases } from '../media/downloads/leases.ts';
import type { DownloadLeases } from '../media/downloads/leases.ts';
import { noFileUsage, RedisFileUsage } from '../storage/file-usage.ts';
import type { FileUsage } from '../storage/file-usage.ts';
import { createIncompleteBuilds, noIncompleteBuilds } from './incomplete-builds.ts';
import type { IncompleteBuilds } from './incomplete-builds.ts';
import { BestEffortRedis } from '../platform/best-effort-redis.ts';

/** The state of files that processes with a common store share through Redis. Losing it does no harm. */
export interface Coordination {
  downloads: DownloadLeases;
  usage: FileUsage;
  incomplete: IncompleteBuilds;
}

/** Replaces the coordination in a process that shares its store with no other. */
export const noCoordination: Coordination = {
  downloads: noLeases,
  usage: noFileUsage,
  incomplete: noIncompleteBuilds,
};

/** @param redis a connection that fails fast, so that no request waits while Redis is down. */
export function createCoordination(
  redis: Redis,
  { redisPrefix, worker }: Pick<Config, 'redisPrefix' | 'worker'>,
): Coordination {
  const bestEffort = new BestEffortRedis(redis, redisPrefix);
  return {
    // A build that another worker takes over should not wait for the dead worker's downloads.
    downloads: createDownloadLeases(bestEffort, Math.min(defaultLeaseMs, worker.lockSeconds * 1000)),
    usage: new RedisFileUsage(bestEffort),
    incomplete: createIncompleteBuilds(bestEffort),
  };
}
