import { doubledMs } from '../platform/backoff.ts';
import { nowInLua } from '../platform/lua.ts';
import type { BestEffortRedis } from '../platform/best-effort-redis.ts';

/** The longest wait between two builds of an export that stays incomplete, unless the first wait is longer. */
const longestWaitMs = 3_600_000;

/** The row of incomplete builds ends after so long without one. */
const memoryMs = 48 * 3_600_000;

/** The last build of an export that lacked files. */
export interface IncompleteBuild {
  /** How many were incomplete in a row. */
  builds: number;
  /** How long ago it ended, by the clock of Redis. */
  ageMs: number;
}

/**
 * When exports were last built without all of their files, for all hosts. It is kept in Redis and measured by its clock
 * alone, because the clocks of API, workers and store may differ by minutes.
 */
export interface IncompleteBuilds {
  /** Notes that an incomplete archive is about to be published. */
  note(exportKey: string): Promise<void>;
  /** Forgets an export that is complete now. */
  forget(exportKey: string): Promise<void>;
  /** Finds the last builds of some exports, null for none; undefined while Redis is away. */
  find(exportKeys: readonly string[]): Promise<(IncompleteBuild | null)[] | undefined>;
}

/** For a process that knows of no other: nothing is noted, and every incomplete archive has had its time. */
export const noIncompleteBuilds: IncompleteBuilds = {
  note: () => Promise.resolve(),
  forget: () => Promise.resolve(),
  find: (exportKeys) => Promise.resolve(exportKeys.map(() => null)),
};

/**
 * Returns how long an incomplete archive is served before it is built again, in milliseconds: DEGRADED_EXPORT_SECONDS
 * after the first build, twice as long after each further one, up to an hour. So a file that stays missing, beside one
 * that changes at each download, does not fill the store.
 */
export function incompleteWaitMs(builds: number, degradedSeconds: number): number {
  const firstMs = degradedSeconds * 1000;
  if (builds <= 1) return firstMs;
  return doubledMs({ firstMs: Math.max(firstMs, 1000), maxMs: Math.max(firstMs, longestWaitMs) }, builds - 1);
}

const noteScript = `
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
    async note(exportKey) {
      await redis.try((r) => r.eval(noteScript, 1, keyOf(exportKey)));
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
