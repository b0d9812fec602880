import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { nowInLua } from '../platform/lua.ts';
import type { BestEffortRedis } from '../platform/best-effort-redis.ts';

/** A file is in use for so long after it was noted. */
export const inUseMs = 60_000;

/** A process notes the use of a file no more often than this; what it holds, as often as this. */
const touchIntervalMs = inUseMs / 3;

/** Uses that a process remembers to have noted. */
const maxRemembered = 20_000;

/** Files that are noted at once. */
const batchSize = 500;

/** How often a file is looked at that an evictor is removing, which takes milliseconds. */
const pollIntervalMs = 50;

/** Where the uses of files are kept. */
export const usageKeys = {
  /** When each file was used last: a sorted set, in milliseconds. Times in the future are those of `pinned`. */
  used: 'files:used',
  /** Until when signed URLs name each file: a sorted set, in milliseconds. */
  pinned: 'files:pinned',
  /** The files that an evictor is removing right now, each with the end of its time to do so. */
  leaving: 'files:leaving',
  /** Which server's memory the uses are in, and since when: see worker/maintenance/eviction/. */
  known: 'files:known',
  /** Which organizations use each file: their ids, with commas between them. */
  owners: 'files:owners',
} as const;

/**
 * Raises the scores of files in KEYS[1] to ARGV[1], or to now where that is 0. Files that are leaving are returned
 * instead: an evictor has chosen them before. Redis serializes use and eviction.
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

/** Further organizations that use a file are not noted. Those that are keep it from going for the others. */
const maxOwners = 16;

/** Adds the organization ARGV[1] to the users of files in KEYS[1]. */
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

/** The name of a file that may be evicted: a downloaded file by its SHA-256, or an archive by its key. */
export type EvictableFile = `cache:${string}` | `archives:${string}`;

export interface FilePin {
  /** Files that are in the store, and were noted as used just now. */
  add(file: EvictableFile): void;
  /** Takes back one `add`. */
  unpin(file: EvictableFile): void;
  release(): void;
}

/**
 * Tells evictors, in whatever process, which files are in use. While Redis is away nothing is told; a file that is
 * gone then is missed by who needs it, and comes back.
 */
export interface FileUsage {
  /**
   * Notes that files are used now, and for the next minute. Those that are being removed at this moment are gone when
   * this resolves: whoever needs a file looks for it after that.
   */
  touch(files: readonly EvictableFile[]): Promise<void>;
  /**
   * Pins files until a time, because signed URLs name them. An evictor removes them earlier only if all organizations
   * that use them hold more than their share. This is no use: renewing URLs keeps no file in use.
   *
   * @returns files that this process had not pinned lately. They may be gone: look for them after this resolves.
   */
  pinUntil(files: readonly EvictableFile[], until: Date): Promise<EvictableFile[]>;
  /** Notes that an organization uses files, which count towards its share of the store. */
  addOwner(organizationId: string, files: readonly EvictableFile[]): Promise<void>;
  /** Keeps the files that are added to it in use, until it is released. */
  pin(): FilePin;
  /** Notes what is held now, as happens by itself every 20 seconds. */
  touchPinned(): Promise<void>;
  /** Ends what is held. */
  close(): void;
}

/** For a process whose store nobody evicts from. */
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
  /** How often each is held. */
  readonly #held = new Map<EvictableFile, number>();
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
    // URLs expire on the half hour: many that name a file have the same expiry.
    const unknown = files.filter((file) => !this.#remembered.has(pinnedName(file, until.getTime())));
    await this.#awaitGone(await this.#send(unknown, until.getTime()), until.getTime());
    return unknown;
  }

  async addOwner(organizationId: string, files: readonly EvictableFile[]): Promise<void> {
    const key = this.#redis.key(usageKeys.owners);
    const unknown = files.filter((file) => !this.#remembered.has(ownedName(file, organizationId)));
    for (let start = 0; start < unknown.length; start += batchSize) {
      const some = unknown.slice(start, start + batchSize);
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
        count(this.#held, file, 1);
      },
      unpin: (file) => {
        if (!files.has(file)) return;
        count(files, file, -1);
        count(this.#held, file, -1);
      },
      release: () => {
        for (const [file, times] of files) count(this.#held, file, -times);
        files.clear();
      },
    };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** What is asked for in one turn of the event loop is one command. */
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
   * Notes files as used, or pins them if `until` is given.
   *
   * @param until in milliseconds. @returns those that are leaving.
   */
  async #send(files: readonly EvictableFile[], until = 0): Promise<EvictableFile[]> {
    const all: EvictableFile[] = [];
    const scores = until === 0 ? usageKeys.used : usageKeys.pinned;
    const keys = [this.#redis.key(scores), this.#redis.key(usageKeys.leaving)];
    for (let start = 0; start < files.length; start += batchSize) {
      const some = files.slice(start, start + batchSize);
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
    await this.#send([...this.#held.keys()]);
  }
}

function count(held: Map<EvictableFile, number>, file: EvictableFile, more: number): void {
  const times = (held.get(file) ?? 0) + more;
  if (times > 0) held.set(file, times);
  else held.delete(file);
}

/** What is remembered of a file that is pinned until a time, in milliseconds. */
function pinnedName(file: EvictableFile, until: number): string {
  return `${file} ${until}`;
}

/** What is remembered of a file that an organization uses. */
function ownedName(file: EvictableFile, organizationId: string): string {
  return `${file} ${organizationId}`;
}
