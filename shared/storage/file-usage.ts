import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { nowInLua } from '../platform/redis.ts';
import type { BestEffortRedis } from '../platform/best-effort-redis.ts';
import { groupsOf } from '../platform/groups.ts';

/** How long a file counts as used after a touch. */
export const inUseMs = 60_000;

/** The minimum time between two touches of a file by a process, and the interval at which it touches pinned files. */
const touchIntervalMs = inUseMs / 3;

/** The number of touches that a process remembers. */
const maxRemembered = 20_000;

/** The number of files per command. */
const batchSize = 500;

/** The interval for polling a file that an evictor is removing, which takes milliseconds. */
const pollIntervalMs = 50;

/** Redis keys of file usage. */
export const usageKeys = {
  /**
   * The last use of each file: a sorted set, in milliseconds. Earlier releases also stored pins here, as times in the
   * future.
   */
  used: 'files:used',
  /** The expiry of the last signed URL of each file: a sorted set, in milliseconds. */
  pinned: 'files:pinned',
  /** Eviction claims: the files that an evictor is removing, each with the expiry of its claim. */
  leaving: 'files:leaving',
  /**
   * The server whose memory holds the usage, and the time since when it is complete: see worker/maintenance/eviction/.
   */
  known: 'files:known',
  /** The organizations that use each file: ids, separated by commas. */
  owners: 'files:owners',
} as const;

/**
 * Raises the scores of files in KEYS[1] to ARGV[1], or to now if that is 0. Returns the files with an eviction claim
 * instead: Redis serializes use and eviction, and here the eviction came first.
 */
const touchScript = `
${nowInLua}
local score = ARGV[1] == '0' and string.format('%.0f', now) or ARGV[1]
local someLeave = redis.call('EXISTS', KEYS[2]) == 1
local leaving = {}
for index = 2, #ARGV do
  local ends = someLeave and redis.call('HGET', KEYS[2], ARGV[index])
  if ends and tonumber(ends) > now then
    leaving[#leaving + 1] = ARGV[index]
  else
    redis.call('ZADD', KEYS[1], 'GT', score, ARGV[index])
  end
end
return leaving
`;

/** The number of recorded owners of a file, which suffices to protect it. */
const maxOwners = 16;

/** Adds the organization ARGV[1] to the owners of files in KEYS[1]. */
export const addOwnerScript = `
for index = 2, #ARGV do
  local owners = redis.call('HGET', KEYS[1], ARGV[index])
  if not owners then
    redis.call('HSET', KEYS[1], ARGV[index], ARGV[1])
  elseif not string.find(',' .. owners .. ',', ',' .. ARGV[1] .. ',', 1, true) then
    local _, commas = string.gsub(owners, ',', '')
    if commas + 1 < ${maxOwners} then redis.call('HSET', KEYS[1], ARGV[index], owners .. ',' .. ARGV[1]) end
  end
end
`;

/** The name of an evictable file: a download by its SHA-256, or an archive by its key. */
export type EvictableFile = `cache:${string}` | `archives:${string}`;

export interface FilePin {
  /** Pins a file of the store that was touched just now. */
  add(file: EvictableFile): void;
  /** Undoes one `add`. */
  unpin(file: EvictableFile): void;
  release(): void;
}

/**
 * Reports to the evictors of all processes which files are in use. While Redis is down, it reports nothing; a file that
 * is evicted meanwhile is restored by the next process that needs it.
 */
export interface FileUsage {
  /**
   * Marks files as used now and for the next minute. Files that an evictor is removing are gone when this resolves, so
   * check for a file afterward.
   */
  touch(files: readonly EvictableFile[]): Promise<void>;
  /**
   * Pins files until a time, because signed URLs name them. An evictor removes them earlier only if all their
   * organizations hold more than their share. A pin is not a use: renewing URLs does not extend the age of a file.
   *
   * @returns the files that this process had not pinned recently. They may be gone, so check for them afterward.
   */
  pinUntil(files: readonly EvictableFile[], until: Date): Promise<EvictableFile[]>;
  /** Records that an organization uses files, which then count toward its share of the store. */
  addOwner(organizationId: string, files: readonly EvictableFile[]): Promise<void>;
  /** Creates a pin, which keeps its files in use until its release. */
  pin(): FilePin;
  /** Touches all pinned files. A timer calls it every 20 seconds. */
  touchPinned(): Promise<void>;
  /** Stops the timer. */
  close(): void;
}

/** Replaces the usage in a process whose store has no evictor. */
export const noFileUsage: FileUsage = {
  touch: () => Promise.resolve(),
  pinUntil: () => Promise.resolve([]),
  addOwner: () => Promise.resolve(),
  pin: () => ({ add: () => undefined, unpin: () => undefined, release: () => undefined }),
  touchPinned: () => Promise.resolve(),
  close: () => undefined,
};

interface Batch {
  files: EvictableFile[];
  leaving: Promise<Set<EvictableFile>>;
}

export class RedisFileUsage implements FileUsage {
  readonly #redis: BestEffortRedis;
  readonly #remembered = new LRUCache<string, true>({ max: maxRemembered, ttl: touchIntervalMs });
  /** The number of pins of each file. */
  readonly #pinned = new Map<EvictableFile, number>();
  readonly #timer: NodeJS.Timeout;
  #batch: Batch | null = null;

  constructor(redis: BestEffortRedis) {
    this.#redis = redis;
    this.#timer = setInterval(() => void this.touchPinned(), touchIntervalMs);
    this.#timer.unref();
  }

  async touch(files: readonly EvictableFile[]): Promise<void> {
    const unknown = files.filter((file) => !this.#remembered.has(file));
    if (unknown.length === 0) return;
    const batch = this.#batch ?? this.#startBatch();
    batch.files.push(...unknown);
    const leaving = await batch.leaving;
    await this.#awaitGone(unknown.filter((file) => leaving.has(file)));
  }

  async pinUntil(files: readonly EvictableFile[], until: Date): Promise<EvictableFile[]> {
    // URLs expire on the half hour, so many URLs of a file share one expiry.
    const unknown = files.filter((file) => !this.#remembered.has(pinnedName(file, until.getTime())));
    await this.#awaitGone(await this.#send(unknown, until.getTime()), until.getTime());
    return unknown;
  }

  async addOwner(organizationId: string, files: readonly EvictableFile[]): Promise<void> {
    const key = this.#redis.key(usageKeys.owners);
    const unknown = files.filter((file) => !this.#remembered.has(ownedName(file, organizationId)));
    for (const some of groupsOf(unknown, batchSize)) {
      const done = await this.#redis.try((redis) =>
        redis.eval(addOwnerScript, 1, key, organizationId, ...some),
      );
      if (done === undefined) continue;
      for (const file of some) this.#remembered.set(ownedName(file, organizationId), true);
    }
  }

  pin(): FilePin {
    const files = new Map<EvictableFile, number>();
    return {
      add: (file) => {
        count(files, file, 1);
        count(this.#pinned, file, 1);
      },
      unpin: (file) => {
        if (!files.has(file)) return;
        count(files, file, -1);
        count(this.#pinned, file, -1);
      },
      release: () => {
        for (const [file, times] of files) count(this.#pinned, file, -times);
        files.clear();
      },
    };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** All touches of one turn of the event loop share one command. */
  #startBatch(): Batch {
    const files: EvictableFile[] = [];
    const leaving = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      this.#batch = null;
      return new Set(await this.#send(files));
    });
    this.#batch = { files, leaving };
    return this.#batch;
  }

  async #awaitGone(files: EvictableFile[], until = 0): Promise<void> {
    for (let left = files; left.length > 0;) {
      await delay(pollIntervalMs);
      left = await this.#send(left, until);
    }
  }

  /**
   * Touches files, or pins them if `until` is given.
   *
   * @param until in milliseconds.
   * @returns the files that an evictor is removing.
   */
  async #send(files: readonly EvictableFile[], until = 0): Promise<EvictableFile[]> {
    const all: EvictableFile[] = [];
    const scores = until === 0 ? usageKeys.used : usageKeys.pinned;
    const keys = [this.#redis.key(scores), this.#redis.key(usageKeys.leaving)];
    for (const some of groupsOf(files, batchSize)) {
      const leaving = await this.#redis.try(
        (redis) => redis.eval(touchScript, 2, ...keys, until, ...some) as Promise<EvictableFile[]>,
      );
      if (leaving === undefined) continue;
      const gone = new Set(leaving);
      for (const file of some) {
        if (!gone.has(file)) this.#remembered.set(until === 0 ? file : pinnedName(file, until), true);
      }
      all.push(...leaving);
    }
    return all;
  }

  async touchPinned(): Promise<void> {
    await this.#send([...this.#pinned.keys()]);
  }
}

function count(held: Map<EvictableFile, number>, file: EvictableFile, more: number): void {
  const times = (held.get(file) ?? 0) + more;
  if (times > 0) held.set(file, times);
  else held.delete(file);
}

/** Returns the cache key of a pin until a time, in milliseconds. */
function pinnedName(file: EvictableFile, until: number): string {
  return `${file} ${until}`;
}

/** Returns the cache key of an owner of a file. */
function ownedName(file: EvictableFile, organizationId: string): string {
  return `${file} ${organizationId}`;
}
