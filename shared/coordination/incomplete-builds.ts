import { doubledMs } from '../platform/backoff.ts';
import { nowInLua } from '../platform/redis.ts';
import type { BestEffortRedis } from '../platform/best-effort-redis.ts';

/**
 * The longest wait between two builds of an export that stays incomplete, unless DEGRADED_EXPORT_SECONDS is
 * longer.
 */
const longestWaitMs = 3_600_000;

/** Redis forgets consecutive incomplete builds after this long without another one. */
const memoryMs = 48 * 3_600_000;

/** The last build of an export that lacked files. */
export interface IncompleteBuild {
  /** How many builds in a row were incomplete. */
  builds: number;
  /** The time since its end, by the clock of Redis. */
  ageMs: number;
}

/**
 * Records the last build of each incomplete export, across hosts. Redis keeps and measures the times, because the
 * clocks of API, workers and store may differ by minutes.
 */
export interface IncompleteBuilds {
  /** Records that an incomplete archive is about to be published. */
  record(exportKey: string): Promise<void>;
  /** Forgets an export that is complete now. */
  forget(exportKey: string): Promise<void>;
  /** Returns the last builds of some exports, null for none; undefined while Redis is down. */
  find(exportKeys: readonly string[]): Promise<(IncompleteBuild | null)[] | undefined>;
}

/** For a process without Redis: records nothing, so every incomplete archive counts as expired. */
export const noIncompleteBuilds: IncompleteBuilds = {
  record: () => Promise.resolve(),
  forget: () => Promise.resolve(),
  find: (exportKeys) => Promise.resolve(exportKeys.map(() => null)),
};

/**
 * Returns how long an incomplete archive is served before the next build, in milliseconds. The backoff begins
 * with DEGRADED_EXPORT_SECONDS and doubles up to an hour. Without it, a file that stays missing beside one that
 * changes at each download would fill the store.
 */
export function incompleteWaitMs(builds: number, degradedSeconds: number): number {
  const firstMs = degradedSeconds * 1000;
  if (builds <= 1) return firstMs;
  return doubledMs({ firstMs: Math.max(firstMs, 1000), maxMs: Math.max(firstMs, longestWaitMs) }, builds - 1);
}

const recordScript = `
${nowInLua}
redis.call('HINCRBY', KEYS[1], 'builds', 1)
redis.call('HSET', KEYS[1], 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], ${memoryMs})
`;

const findScript = `
${nowInLua}
local found = {}
for index, key in ipairs(KEYS) do
  local builds, at = unpack(redis.call('HMGET', key, 'builds', 'at'))
  found[index] = builds and at and {tonumber(builds), now - tonumber(at)} or {}
end
return found
`;

export function createIncompleteBuilds(redis: BestEffortRedis): IncompleteBuilds {
  const keyOf = (exportKey: string) => redis.key(`incomplete:${exportKey}`);
  return {
    async record(exportKey) {
      await redis.try((r) => r.eval(recordScript, 1, keyOf(exportKey)));
    },
    async forget(exportKey) {
      await redis.try((r) => r.del(keyOf(exportKey)));
    },
    async find(exportKeys) {
      if (exportKeys.length === 0) return [];
      const keys = exportKeys.map(keyOf);
      const found = await redis.try((r) => r.eval(findScript, keys.length, ...keys) as Promise<number[][]>);
      return found?.map(([builds, ageMs]) =>
        builds === undefined || ageMs === undefined ? null : { builds, ageMs },
      );
    },
  };
}
