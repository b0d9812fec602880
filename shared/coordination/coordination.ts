import type { Redis } from 'ioredis';
import type { Config } from '../platform/config.ts';
import { createDownloadLeases, noLeases } from '../media/downloads/leases.ts';
import type { DownloadLeases } from '../media/downloads/leases.ts';
import { noUses, SharedFileUses } from '../storage/file-usage.ts';
import type { FileUses } from '../storage/file-usage.ts';
import { createIncompleteBuilds, noIncompleteBuilds } from './incomplete-builds.ts';
import type { IncompleteBuilds } from './incomplete-builds.ts';
import { WillingRedis } from '../platform/best-effort-redis.ts';

/** What processes that share a store tell each other of its files. All of it may be lost without harm. */
export interface Sharing {
  downloads: DownloadLeases;
  uses: FileUses;
  incomplete: IncompleteBuilds;
}

/** For a process that shares its store with no other. */
export const alone: Sharing = { downloads: noLeases, uses: noUses, incomplete: noIncompleteBuilds };

/** @param redis a connection that fails fast: nothing waits for a Redis that is away. */
export function createSharing(redis: Redis, config: Pick<Config, 'redisPrefix'>): Sharing {
  const willing = new WillingRedis(redis, config.redisPrefix);
  return {
    downloads: createDownloadLeases(willing),
    uses: new SharedFileUses(willing),
    incomplete: createIncompleteBuilds(willing),
  };
}
