import type { Redis } from 'ioredis';
import { nowInLua } from '../../../shared/platform/lua.ts';
import { addOwnerScript, usageKeys, inUseMs } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';

/** How long an evictor has to remove the files that it has chosen, before they count as staying. */
const claimMs = 60_000;

/** Within this part of that time it begins the last removal: one that began may take its time. */
export const removalMs = claimMs / 6;

/** Files that are noted at once. */
const noteBatch = 500;

/**
 * The uses that Redis has are all there are only as long as it has lost nothing. A restart gives it another run id,
 * and whatever clears its memory clears the note as well: from then on uses are known anew.
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
 * Chooses files that are not in use, and marks them as leaving in the same step: who wants one from now on waits.
 * ARGV[3] is 1 where pins do not count, nor recent uses of archives, which can be read to their end when removed: as long
 * as the owners are ARGV[4], because another one may be within its share.
 */
const chooseScript = `
${nowInLua}
local known = string.match(redis.call('GET', KEYS[3]) or '', '^(%w+) ')
if known ~= ARGV[1] or not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[1], 1, true) then
  return redis.error_reply('LOST the uses of files are not known any more')
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
 * Releases before wrote pins among the uses, as times in the future. When such a file was used last is not known: as
 * of now. What is in use then is noted again within a minute.
 */
const separatePinsScript = `
${nowInLua}
local found = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, ${noteBatch})
for index = 1, #found, 2 do
  redis.call('ZADD', KEYS[2], 'GT', found[index + 1], found[index])
  redis.call('ZADD', KEYS[1], string.format('%.0f', now), found[index])
end
return #found / 2
`;

/** Forgets scores of KEYS[1] that are too old, and the users of files that KEYS[2] does not name either. */
const forgetScript = `
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[1], 'LIMIT', 0, ${noteBatch})
for _, file in ipairs(old) do
  redis.call('ZREM', KEYS[1], file)
  if not redis.call('ZSCORE', KEYS[2], file) then redis.call('HDEL', KEYS[3], file) end
end
return #old
`;

/** Choices whose time is over are those of an evictor that died. */
const endChoicesScript = `
${nowInLua}
local leaving = redis.call('HGETALL', KEYS[1])
for index = 1, #leaving, 2 do
  if tonumber(leaving[index + 1]) <= now then redis.call('HDEL', KEYS[1], leaving[index]) end
end
`;

/** When a file was used last, and until when signed URLs name it: milliseconds, 0 where that is not known. */
export interface FileTimes {
  used: number;
  pinned: number;
}

/** What an evictor asks Redis of the uses of files, and tells it of those that leave. */
export class EvictionClaims {
  readonly #redis: Redis;
  readonly #used: string;
  readonly #pinned: string;
  readonly #leaving: string;
  readonly #known: string;
  readonly #owners: string;

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#used = `${prefix}:${usageKeys.used}`;
    this.#pinned = `${prefix}:${usageKeys.pinned}`;
    this.#leaving = `${prefix}:${usageKeys.leaving}`;
    this.#known = `${prefix}:${usageKeys.known}`;
    this.#owners = `${prefix}:${usageKeys.owners}`;
  }

  /** Since when all uses are known, and the time now, in milliseconds; by which server. */
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

  /** Which organizations use each of some files, as one text with commas; empty where that is not known. */
  async ownersOf(files: readonly EvictableFile[]): Promise<string[]> {
    if (files.length === 0) return [];
    const owners = await this.#redis.hmget(this.#owners, ...files);
    return owners.map((one) => one ?? '');
  }

  /**
   * Returns files that may be removed now: last used before a time, not in the last minute, and not pinned. Whoever
   * wants one waits for {@link EvictionClaims.release}.
   *
   * @param options.force ignores pins, and the uses of archives, of files that exactly `owners` use.
   * @throws when Redis has lost uses since {@link EvictionClaims.begin}, or does not answer.
   */
  async claim(
    server: string,
    files: readonly EvictableFile[],
    { before, force, owners }: { before: number; force: boolean; owners: string },
  ): Promise<EvictableFile[]> {
    const keys = [this.#used, this.#leaving, this.#known, this.#pinned, this.#owners];
    const options = [server, before, force ? 1 : 0, owners];
    return (await this.#redis.eval(
      chooseScript,
      keys.length,
      ...keys,
      ...options,
      ...files,
    )) as EvictableFile[];
  }

  /** Of the files that were chosen some are gone, and nobody needs to wait any more. */
  async release(chosen: readonly EvictableFile[], gone: readonly EvictableFile[]): Promise<void> {
    if (gone.length > 0) {
      await this.#redis.zrem(this.#used, ...gone);
      await this.#redis.zrem(this.#pinned, ...gone);
      await this.#redis.hdel(this.#owners, ...gone);
    }
    if (chosen.length > 0) await this.#redis.hdel(this.#leaving, ...chosen);
  }

  /** Pins files until a time. @param organizationId whose share they count towards; null where that is not known. */
  async pinUntil(files: readonly EvictableFile[], until: Date, organizationId: string | null): Promise<void> {
    for (let start = 0; start < files.length; start += noteBatch) {
      const some = files.slice(start, start + noteBatch);
      if (organizationId !== null) {
        await this.#redis.eval(addOwnerScript, 1, this.#owners, organizationId, ...some);
      }
      await this.#redis.zadd(this.#pinned, 'GT', ...some.flatMap((file) => [until.getTime(), file]));
    }
  }

  /** Forgets uses and pins from before a time, and what an evictor that died has chosen. */
  async tidy(before: number): Promise<void> {
    const owners = this.#owners;
    await this.#repeat(separatePinsScript, [this.#used, this.#pinned]);
    await this.#repeat(forgetScript, [this.#used, this.#pinned, owners], before);
    await this.#repeat(forgetScript, [this.#pinned, this.#used, owners], before);
    await this.#redis.eval(endChoicesScript, 1, this.#leaving);
  }

  /** Runs a script until it finds less than a batch: Redis does nothing else meanwhile. */
  async #repeat(script: string, keys: string[], ...args: number[]): Promise<void> {
    while ((await this.#redis.eval(script, keys.length, ...keys, ...args)) === noteBatch);
  }
}
