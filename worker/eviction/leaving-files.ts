import type { Redis } from 'ioredis';
import { nowInLua } from '../../shared/lua.ts';
import { useKeys, useMilliseconds } from '../../shared/sharing/file-uses.ts';
import type { EvictableFile } from '../../shared/sharing/file-uses.ts';

/** How long an evictor has to remove the files that it has chosen, before they count as staying. */
const leaveMilliseconds = 60_000;

/** Within this part of that time it begins the last removal: one that began may take its time. */
export const removeMilliseconds = leaveMilliseconds / 6;

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

/** Chooses files that are not in use, in one step with the look whether they are: who wants one from now on waits. */
const chooseScript = `
${nowInLua}
local known = string.match(redis.call('GET', KEYS[3]) or '', '^(%w+) ')
if known ~= ARGV[1] or not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[1], 1, true) then
  return redis.error_reply('LOST the uses of files are not known any more')
end
local before = math.min(tonumber(ARGV[2]), now - ${useMilliseconds})
local chosen = {}
for index = 3, #ARGV do
  local used = redis.call('ZSCORE', KEYS[1], ARGV[index])
  if not used or tonumber(used) < before then
    redis.call('HSET', KEYS[2], ARGV[index], string.format('%.0f', now + ${leaveMilliseconds}))
    chosen[#chosen + 1] = ARGV[index]
  end
end
return chosen
`;

/** Choices whose time is over are those of an evictor that died. */
const tidyScript = `
${nowInLua}
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[1], 'LIMIT', 0, ${noteBatch})
if #old > 0 then
  redis.call('ZREM', KEYS[1], unpack(old))
  redis.call('HDEL', KEYS[3], unpack(old))
end
local leaving = redis.call('HGETALL', KEYS[2])
for index = 1, #leaving, 2 do
  if tonumber(leaving[index + 1]) <= now then redis.call('HDEL', KEYS[2], leaving[index]) end
end
return #old
`;

/** What an evictor asks Redis of the uses of files, and tells it of those that leave. */
export class LeavingFiles {
  readonly #redis: Redis;
  readonly #used: string;
  readonly #leaving: string;
  readonly #known: string;
  readonly #owners: string;

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#used = `${prefix}:${useKeys.used}`;
    this.#leaving = `${prefix}:${useKeys.leaving}`;
    this.#known = `${prefix}:${useKeys.known}`;
    this.#owners = `${prefix}:${useKeys.owners}`;
  }

  /** Since when all uses are known, and the time now, in milliseconds; by which server. */
  async begin(): Promise<{ server: string; knownSince: number; now: number }> {
    const found = await this.#redis.eval(beginScript, 1, this.#known);
    const [server = '', knownSince, now] = found as string[];
    return { server, knownSince: Number(knownSince), now: Number(now) };
  }

  /** When each of some files was used last, in milliseconds, or until when it has to stay; 0 where that is not known. */
  async usedAt(files: readonly EvictableFile[]): Promise<number[]> {
    if (files.length === 0) return [];
    const times = await this.#redis.zmscore(this.#used, ...files);
    return times.map(Number);
  }

  /** Which organizations use each of some files, as one text with commas; empty where that is not known. */
  async ownersOf(files: readonly EvictableFile[]): Promise<string[]> {
    if (files.length === 0) return [];
    const owners = await this.#redis.hmget(this.#owners, ...files);
    return owners.map((one) => one ?? '');
  }

  /**
   * Those of some files that may be removed now: last used before a time, and not in the last minute. Whoever wants
   * one waits for {@link LeavingFiles.removed}.
   *
   * @throws when Redis has lost uses since {@link LeavingFiles.begin}, or does not answer.
   */
  async choose(server: string, files: readonly EvictableFile[], before: number): Promise<EvictableFile[]> {
    const keys = [this.#used, this.#leaving, this.#known];
    return (await this.#redis.eval(chooseScript, 3, ...keys, server, before, ...files)) as EvictableFile[];
  }

  /** Of the files that were chosen some are gone, and nobody needs to wait any more. */
  async removed(chosen: readonly EvictableFile[], gone: readonly EvictableFile[]): Promise<void> {
    if (gone.length > 0) {
      await this.#redis.zrem(this.#used, ...gone);
      await this.#redis.hdel(this.#owners, ...gone);
    }
    if (chosen.length > 0) await this.#redis.hdel(this.#leaving, ...chosen);
  }

  /** Has files stay until a time. */
  async keepUntil(files: readonly EvictableFile[], until: Date): Promise<void> {
    for (let start = 0; start < files.length; start += noteBatch) {
      const some = files.slice(start, start + noteBatch);
      await this.#redis.zadd(this.#used, 'GT', ...some.flatMap((file) => [until.getTime(), file]));
    }
  }

  /** Forgets uses from before a time, and what an evictor that died has chosen. */
  async tidy(before: number): Promise<void> {
    const keys = [this.#used, this.#leaving, this.#owners];
    // A part at a time: Redis does nothing else meanwhile.
    while ((await this.#redis.eval(tidyScript, keys.length, ...keys, before)) === noteBatch);
  }
}
