import type { Redis } from 'ioredis';
import { nowInLua } from '../../../shared/platform/redis.ts';
import { addOwnerScript, usageKeys, inUseMs } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';
import { groupsOf } from '../../../shared/platform/groups.ts';

/** The lifetime of a claim: how long an evictor may take to remove claimed files. */
const claimMs = 60_000;

/** Removals begin only within this time, because a running one cannot be interrupted. */
export const removalMs = claimMs / 6;

/** Files per command. */
const batchSize = 500;

/**
 * The usage in Redis is complete only if Redis lost nothing. A restart changes its run id, and clearing its memory
 * clears this key. In both cases, usage is complete only from this time on.
 */
const beginScript = `
${nowInLua}
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local known, since = string.match(redis.call('GET', KEYS[1]) or '', '^(%w+) (%d+)$')
if known ~= server then
  since = string.format('%.0f', now)
  redis.call('SET', KEYS[1], server .. ' ' .. since)
end
return {server, since, string.format('%.0f', now)}
`;

/**
 * Claims files that are not in use, in one step: processes that want a claimed file wait. With ARGV[3] = 1 pins do not
 * count, nor do recent uses of archives, whose readers can read to their end. That holds only while the owners are
 * ARGV[4], because another owner may be within its share.
 */
const claimScript = `
${nowInLua}
local known = string.match(redis.call('GET', KEYS[3]) or '', '^(%w+) ')
if known ~= ARGV[1] or not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[1], 1, true) then
  return redis.error_reply('LOST Redis has lost the usage of files')
end
local before = math.min(tonumber(ARGV[2]), now - ${inUseMs})
local force = ARGV[3] == '1'
local chosen = {}
for index = 5, #ARGV do
  local used = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[index]) or 0)
  local pinned = tonumber(redis.call('ZSCORE', KEYS[4], ARGV[index]) or 0)
  local free
  if force then
    local owners = redis.call('HGET', KEYS[5], ARGV[index]) or ''
    free = owners == ARGV[4] and (used < before or string.sub(ARGV[index], 1, 9) == 'archives:')
  else
    free = used < before and pinned <= now
  end
  if free then
    redis.call('HSET', KEYS[2], ARGV[index], string.format('%.0f', now + ${claimMs}))
    chosen[#chosen + 1] = ARGV[index]
  end
end
return chosen
`;

/**
 * Earlier releases wrote pins among the uses, as times in the future. Their last use is unknown and becomes now; files
 * in use are touched again within a minute.
 */
const separatePinsScript = `
${nowInLua}
local found = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, ${batchSize})
for index = 1, #found, 2 do
  redis.call('ZADD', KEYS[2], 'GT', found[index + 1], found[index])
  redis.call('ZADD', KEYS[1], string.format('%.0f', now), found[index])
end
return #found / 2
`;

/** Removes old scores of KEYS[1], and the owners of files that KEYS[2] lacks as well. */
const forgetScript = `
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[1], 'LIMIT', 0, ${batchSize})
for _, file in ipairs(old) do
  redis.call('ZREM', KEYS[1], file)
  if not redis.call('ZSCORE', KEYS[2], file) then redis.call('HDEL', KEYS[3], file) end
end
return #old
`;

/** Removes expired claims, whose evictor died. */
const expireClaimsScript = `
${nowInLua}
local leaving = redis.call('HGETALL', KEYS[1])
for index = 1, #leaving, 2 do
  if tonumber(leaving[index + 1]) <= now then redis.call('HDEL', KEYS[1], leaving[index]) end
end
`;

/** The last use of a file, and the expiry of its signed URLs, in milliseconds; 0 where unknown. */
export interface FileTimes {
  used: number;
  pinned: number;
}

/**
 * The evictor's view of file usage in Redis, and its eviction claims: leases that give an evictor exclusive time to
 * remove files.
 */
export class EvictionClaims {
  readonly #redis: Redis;
  readonly #used: string;
  readonly #pinned: string;
  readonly #claims: string;
  readonly #known: string;
  readonly #owners: string;

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#used = `${prefix}:${usageKeys.used}`;
    this.#pinned = `${prefix}:${usageKeys.pinned}`;
    this.#claims = `${prefix}:${usageKeys.leaving}`;
    this.#known = `${prefix}:${usageKeys.known}`;
    this.#owners = `${prefix}:${usageKeys.owners}`;
  }

  /** Returns the server, since when its usage is complete, and its time, in milliseconds. */
  async begin(): Promise<{ server: string; knownSince: number; now: number }> {
    const found = await this.#redis.eval(beginScript, 1, this.#known);
    const [server = '', knownSince, now] = found as string[];
    return { server, knownSince: Number(knownSince), now: Number(now) };
  }

  async timesOf(files: readonly EvictableFile[]): Promise<FileTimes[]> {
    if (files.length === 0) return [];
    const [used, pinned] = await Promise.all([
      this.#redis.zmscore(this.#used, ...files),
      this.#redis.zmscore(this.#pinned, ...files),
    ]);
    return files.map((_, index) => ({ used: Number(used[index]), pinned: Number(pinned[index]) }));
  }

  /** Returns the owners of each file as one text, separated by commas; empty where unknown. */
  async ownersOf(files: readonly EvictableFile[]): Promise<string[]> {
    if (files.length === 0) return [];
    const owners = await this.#redis.hmget(this.#owners, ...files);
    return owners.map((one) => one ?? '');
  }

  /**
   * Claims and returns the files that may be removed now: last used before a time, not in the last minute, and not
   * pinned. Processes that want one wait for {@link EvictionClaims.release}.
   *
   * @param options.force ignores pins, and uses of archives, for files with exactly these `owners`.
   * @throws when Redis has lost usage since {@link EvictionClaims.begin}, or does not respond.
   */
  async claim(
    server: string,
    files: readonly EvictableFile[],
    { before, force, owners }: { before: number; force: boolean; owners: string },
  ): Promise<EvictableFile[]> {
    const keys = [this.#used, this.#claims, this.#known, this.#pinned, this.#owners];
    const options = [server, before, force ? 1 : 0, owners];
    return (await this.#redis.eval(
      claimScript,
      keys.length,
      ...keys,
      ...options,
      ...files,
    )) as EvictableFile[];
  }

  /**
   * Ends claims, so that waiting processes continue.
   *
   * @param gone the claimed files that were removed.
   */
  async release(chosen: readonly EvictableFile[], gone: readonly EvictableFile[]): Promise<void> {
    if (gone.length > 0) {
      await this.#redis.zrem(this.#used, ...gone);
      await this.#redis.zrem(this.#pinned, ...gone);
      await this.#redis.hdel(this.#owners, ...gone);
    }
    if (chosen.length > 0) await this.#redis.hdel(this.#claims, ...chosen);
  }

  /**
   * Pins files until a time.
   *
   * @param organizationId their owner; null where unknown.
   */
  async pinUntil(files: readonly EvictableFile[], until: Date, organizationId: string | null): Promise<void> {
    for (const some of groupsOf(files, batchSize)) {
      if (organizationId !== null) {
        await this.#redis.eval(addOwnerScript, 1, this.#owners, organizationId, ...some);
      }
      await this.#redis.zadd(this.#pinned, 'GT', ...some.flatMap((file) => [until.getTime(), file]));
    }
  }

  /** Removes uses and pins from before a time, and expired claims. */
  async tidy(before: number): Promise<void> {
    const owners = this.#owners;
    await this.#repeat(separatePinsScript, [this.#used, this.#pinned]);
    await this.#repeat(forgetScript, [this.#used, this.#pinned, owners], before);
    await this.#repeat(forgetScript, [this.#pinned, this.#used, owners], before);
    await this.#redis.eval(expireClaimsScript, 1, this.#claims);
  }

  /** Repeats a script until it finds less than a full batch. Batches are small, because a script blocks Redis. */
  async #repeat(script: string, keys: string[], ...args: number[]): Promise<void> {
    while ((await this.#redis.eval(script, keys.length, ...keys, ...args)) === batchSize);
  }
}
