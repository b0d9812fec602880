import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { nowInLua } from '../platform/lua.ts';
import type { WillingRedis } from '../platform/best-effort-redis.ts';

/** A file is in use for so long after it was noted. */
export const useMilliseconds = 60_000;

/** A process notes the use of a file no more often than this; what it holds, as often as this. */
const noteMilliseconds = useMilliseconds / 3;

/** Uses that a process remembers to have noted. */
const maxNoted = 20_000;

/** Files that are noted at once. */
const noteBatch = 500;

/** How often a file is looked at that an evictor is removing, which takes milliseconds. */
const lookMilliseconds = 50;

/** Where the uses of files are kept. */
export const useKeys = {
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
const noteScript = `
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
export const ownScript = `
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

export interface FileHold {
  /** Files that are in the store, and were noted as used just now. */
  add(file: EvictableFile): void;
  /** Takes back one `add`. */
  remove(file: EvictableFile): void;
  release(): void;
}

/**
 * Tells evictors, in whatever process, which files are in use. While Redis is away nothing is told; a file that is
 * gone then is missed by who needs it, and comes back.
 */
export interface FileUses {
  /**
   * Notes that files are used now, and for the next minute. Those that are being removed at this moment are gone when
   * this resolves: whoever needs a file looks for it after that.
   */
  note(files: readonly EvictableFile[]): Promise<void>;
  /**
   * Pins files until a time, because signed URLs name them. An evictor removes them earlier only if all organizations
   * that use them hold more than their share. This is no use: renewing URLs keeps no file in use.
   *
   * @returns files that this process had not pinned lately. They may be gone: look for them after this resolves.
   */
  keepUntil(files: readonly EvictableFile[], until: Date): Promise<EvictableFile[]>;
  /** Notes that an organization uses files, which count towards its share of the store. */
  own(organizationId: string, files: readonly EvictableFile[]): Promise<void>;
  /** Keeps the files that are added to it in use, until it is released. */
  hold(): FileHold;
  /** Notes what is held now, as happens by itself every 20 seconds. */
  noteHeld(): Promise<void>;
  /** Ends what is held. */
  close(): void;
}

/** For a process whose store nobody evicts from. */
export const noUses: FileUses = {
  note: () => Promise.resolve(),
  keepUntil: () => Promise.resolve([]),
  own: () => Promise.resolve(),
  hold: () => ({ add: () => undefined, remove: () => undefined, release: () => undefined }),
  noteHeld: () => Promise.resolve(),
  close: () => undefined,
};

interface Batch {
  files: EvictableFile[];
  leaving: Promise<Set<EvictableFile>>;
}

export class SharedFileUses implements FileUses {
  readonly #redis: WillingRedis;
  readonly #noted = new LRUCache<string, true>({ max: maxNoted, ttl: noteMilliseconds });
  /** How often each is held. */
  readonly #held = new Map<EvictableFile, number>();
  readonly #timer: NodeJS.Timeout;
  #batch: Batch | null = null;

  constructor(redis: WillingRedis) {
    this.#redis = redis;
    this.#timer = setInterval(() => void this.noteHeld(), noteMilliseconds);
    this.#timer.unref();
  }

  async note(files: readonly EvictableFile[]): Promise<void> {
    const unknown = files.filter((file) => !this.#noted.has(file));
    if (unknown.length === 0) return;
    const batch = this.#batch ?? this.#startBatch();
    batch.files.push(...unknown);
    const leaving = await batch.leaving;
    await this.#awaitGone(unknown.filter((file) => leaving.has(file)));
  }

  async keepUntil(files: readonly EvictableFile[], until: Date): Promise<EvictableFile[]> {
    // URLs expire on the half hour: many that name a file have the same expiry.
    const unknown = files.filter((file) => !this.#noted.has(pinnedName(file, until.getTime())));
    await this.#awaitGone(await this.#send(unknown, until.getTime()), until.getTime());
    return unknown;
  }

  async own(organizationId: string, files: readonly EvictableFile[]): Promise<void> {
    const key = this.#redis.key(useKeys.owners);
    const unknown = files.filter((file) => !this.#noted.has(ownedName(file, organizationId)));
    for (let start = 0; start < unknown.length; start += noteBatch) {
      const some = unknown.slice(start, start + noteBatch);
      const done = await this.#redis.try((redis) => redis.eval(ownScript, 1, key, organizationId, ...some));
      if (done === undefined) continue;
      for (const file of some) this.#noted.set(ownedName(file, organizationId), true);
    }
  }

  hold(): FileHold {
    const files = new Map<EvictableFile, number>();
    return {
      add: (file) => {
        count(files, file, 1);
        count(this.#held, file, 1);
      },
      remove: (file) => {
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
      await delay(lookMilliseconds);
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
    const scores = until === 0 ? useKeys.used : useKeys.pinned;
    const keys = [this.#redis.key(scores), this.#redis.key(useKeys.leaving)];
    for (let start = 0; start < files.length; start += noteBatch) {
      const some = files.slice(start, start + noteBatch);
      const leaving = await this.#redis.try(
        (redis) => redis.eval(noteScript, 2, ...keys, until, ...some) as Promise<EvictableFile[]>,
      );
      if (leaving === undefined) continue;
      const gone = new Set(leaving);
      for (const file of some) {
        if (!gone.has(file)) this.#noted.set(until === 0 ? file : pinnedName(file, until), true);
      }
      all.push(...leaving);
    }
    return all;
  }

  async noteHeld(): Promise<void> {
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
