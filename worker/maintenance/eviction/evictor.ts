import type { Redis } from 'ioredis';
import pLimit from 'p-limit';
import type { Config } from '../../../shared/platform/config.ts';
import { exportKeyOf, isIncomplete } from '../../../shared/exports/jobs.ts';
import type { Database } from '../../../shared/models/database.ts';
import { listSignedFiles } from '../../../shared/models/export-record.ts';
import { inUseMs } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';
import { incompleteWaitMs } from '../../../shared/coordination/incomplete-builds.ts';
import type { IncompleteBuild, IncompleteBuilds } from '../../../shared/coordination/incomplete-builds.ts';
import type { StoreLimits } from '../../../shared/storage/store-limits.ts';
import type { ListedArchive, Store } from '../../../shared/storage/store.ts';
import { endOf, minuteOf } from './cut.ts';
import type { Cut } from './cut.ts';
import { fairCuts } from './fair-cuts.ts';
import type { GroupCuts, OwnedFiles } from './fair-cuts.ts';
import { EvictionClaims, removalMs } from './eviction-claims.ts';
import { withLease } from '../../../shared/platform/lease.ts';
import { isEvictable, usageOf } from './evictability.ts';
import type { FileUse } from './evictability.ts';

/** Above STORE_MAX_BYTES eviction continues down to this share of it, so that it does not run at every new file. */
const lowWaterMark = 0.9;

/** On a full disk at least this share is evicted, so that the next builds have room too. */
const fullDiskShare = 0.1;

const hourMs = 3_600_000;

/** Without STORE_MAX_AGE, Redis forgets uses after this time: older files count from the time of their storage. */
const forgetAfterMs = 365 * 24 * hourMs;

/** The tolerated clock skew between hosts. */
const clockSkewMs = 600_000;

/**
 * The minimum time between two checks by any workers: sizes grow quickly, ages slowly. Less than the interval of
 * sweeps.
 */
const sizeIntervalMs = 9 * 60_000;
const ageIntervalMs = 59 * 60_000;

/** Files claimed together, and removed concurrently. */
const batchFiles = 50;
const removals = 8;

export interface EvictionDependencies {
  db: Database;
  store: Store;
  redis: Redis;
  incomplete: IncompleteBuilds;
  limits: StoreLimits;
  config: Pick<Config, 'redisPrefix' | 'export'>;
}

/** The number and bytes of evicted files. */
export interface Evicted {
  files: number;
  bytes: number;
}

interface EvictableListing extends FileUse {
  file: EvictableFile;
  size: number;
  /** Ids of organizations, separated by commas. */
  owners: string;
  remove: () => Promise<void>;
}

/** Files to remove together: last used before a time, pinned or not. */
interface Batch {
  listed: EvictableListing[];
  before: number;
  force: boolean;
  owners: string;
}

/** One run, with the state of Redis at its beginning. */
interface Run {
  server: string;
  now: number;
  knownSince: number;
  signal: AbortSignal;
  /** The last pinning of files that signed URLs name; URLs signed since then are pinned next. */
  pinning: { at: number; signedSince: Date };
}

/** The lease of the one process that evicts. */
const evictorLeaseMs = 30_000;

/**
 * Evicts the least recently used archives and downloads: those beyond STORE_MAX_AGE, and as many as STORE_MAX_BYTES
 * requires, from organizations over their share. It also removes incomplete archives after their time. It never removes
 * a download that is pinned or was used in the last minute. Files that signed URLs name, and archives used in the last
 * minute, are removed only to make room, and only from organizations over their share.
 */
export class Evictor {
  readonly #deps: EvictionDependencies;
  readonly #claims: EvictionClaims;
  readonly #leaseKey: string;

  constructor(deps: EvictionDependencies) {
    this.#deps = deps;
    this.#claims = new EvictionClaims(deps.redis, deps.config.redisPrefix);
    this.#leaseKey = `${deps.config.redisPrefix}:files:evictor`;
  }

  /**
   * Evicts files until the store is within its limits; returns null if another process is doing so.
   *
   * @param ending aborts the run.
   * @throws when Redis, MongoDB or the store does not respond; the remaining files stay.
   */
  keepLimits(ending?: AbortSignal): Promise<Evicted | null> {
    const { maxBytes, maxAgeHours } = this.#deps.limits;
    return this.#run(ending, (total) => ({
      maxAge: maxAgeHours === 0 ? Infinity : maxAgeHours * hourMs,
      bytes: maxBytes > 0 && total > maxBytes ? total - maxBytes * lowWaterMark : 0,
    }));
  }

  /**
   * Calls {@link Evictor.keepLimits} if limits are set and no worker has done so recently, because it reads the store's
   * whole listing. Null if there is nothing to do.
   */
  async keepLimitsIfDue(ending?: AbortSignal): Promise<Evicted | null> {
    const { redis, config, limits } = this.#deps;
    const { maxBytes, maxAgeHours } = limits;
    // Starts recording usage, in case the disk fills up later.
    await this.#claims.begin();
    if (maxBytes === 0 && maxAgeHours === 0) return null;
    const pause = maxBytes === 0 ? ageIntervalMs : sizeIntervalMs;
    const isTurn = await redis.set(`${config.redisPrefix}:files:turn`, '1', 'PX', pause, 'NX');
    return isTurn === null ? null : this.keepLimits(ending);
  }

  /** Frees at least `bytes` if possible; otherwise as {@link Evictor.keepLimits}. */
  makeRoom(bytes: number): Promise<Evicted | null> {
    return this.#run(undefined, (total) => ({
      maxAge: Infinity,
      bytes: Math.max(bytes, total * fullDiskShare),
    }));
  }

  #run(
    ending: AbortSignal | undefined,
    goalFor: (total: number) => { maxAge: number; bytes: number },
  ): Promise<Evicted | null> {
    const { redis } = this.#deps;
    return withLease(redis, { key: this.#leaseKey, leaseMs: evictorLeaseMs }, async (lost) => {
      const signal = ending === undefined ? lost : AbortSignal.any([lost, ending]);
      const run: Run = {
        ...(await this.#claims.begin()),
        signal,
        pinning: { at: -Infinity, signedSince: new Date(0) },
      };
      await this.#claims.tidy(run.now - this.#usageTtlMs());
      await this.#pinSigned(run);
      const groups = await this.#survey(run);
      const total = [...groups.values()].reduce((sum, group) => sum + group.total, 0);
      const { maxAge, bytes } = goalFor(total);
      // Minute 0 holds archives that no request can get any more.
      const cuts = fairCuts(groups, { oldest: Math.max(1, minuteOf(run.now - maxAge)), bytes });
      return cuts.size === 0 ? { files: 0, bytes: 0 } : this.#remove(run, cuts);
    });
  }

  /** Returns how long uses are kept, in milliseconds. */
  #usageTtlMs(): number {
    const { maxAgeHours } = this.#deps.limits;
    return maxAgeHours === 0 ? forgetAfterMs : maxAgeHours * hourMs;
  }

  /** Returns the keys of incomplete archives that were due for another build, and not served, for a minute. */
  async #expired(archives: ListedArchive[]): Promise<Set<string>> {
    const { config, incomplete } = this.#deps;
    const keys = archives.map(({ key }) => key).filter(isIncomplete);
    const builds = await incomplete.find(keys.map(exportKeyOf));
    const isDue = (build: IncompleteBuild | null) =>
      build === null || build.ageMs > incompleteWaitMs(build.builds, config.export.degradedSeconds) + inUseMs;
    return new Set(keys.filter((_, index) => builds !== undefined && isDue(builds[index] ?? null)));
  }

  /** Sums up the bytes of all files, and the evictable bytes by last use, for each group of owners. */
  async #survey(run: Run): Promise<Map<string, OwnedFiles>> {
    const groups = new Map<string, OwnedFiles>();
    for await (const page of this.#list(run)) {
      for (const listed of page) {
        const { size, owners } = listed;
        const group = groups.get(owners) ?? {
          owners: idsOf(owners),
          total: 0,
          used: new Map<number, number>(),
          pinned: new Map<number, number>(),
        };
        groups.set(owners, group);
        group.total += size;
        if (!isEvictable(run, listed)) continue;
        const bytes = listed.isPinned ? group.pinned : group.used;
        const minute = minuteOf(listed.usedAt);
        bytes.set(minute, (bytes.get(minute) ?? 0) + size);
      }
    }
    return groups;
  }

  async #remove(run: Run, cuts: ReadonlyMap<string, GroupCuts>): Promise<Evicted> {
    const evicted: Evicted = { files: 0, bytes: 0 };
    const removeBatch = async (batch: Batch) => {
      const { files, bytes } = await this.#removeBatch(run, { ...batch, listed: batch.listed.splice(0) });
      evicted.files += files;
      evicted.bytes += bytes;
    };
    const planOf = (owners: string, cut: Cut | null, force: boolean) =>
      cut && {
        cut,
        left: cut.bytes,
        batch: { listed: [], before: endOf(cut), force, owners } satisfies Batch,
      };
    const plans = new Map(
      [...cuts].map(([owners, { used, pinned }]) => [
        owners,
        { used: planOf(owners, used, false), pinned: planOf(owners, pinned, true) },
      ]),
    );
    // Recent requests checked these archives but did not use them.
    const expired: Batch = { listed: [], before: run.now, force: false, owners: '' };
    for await (const page of this.#list(run)) {
      for (const listed of page) {
        const plan = plans.get(listed.owners)?.[listed.isPinned ? 'pinned' : 'used'];
        if (!plan || !isEvictable(run, listed)) continue;
        const minute = minuteOf(listed.usedAt);
        if (minute > plan.cut.minute || (minute === plan.cut.minute && plan.left <= 0)) continue;
        if (minute === plan.cut.minute) plan.left -= listed.size;
        const batch: Batch = listed.usedAt === 0 ? expired : plan.batch;
        batch.listed.push(listed);
        if (batch.listed.length >= batchFiles) await removeBatch(batch);
      }
    }
    for (const { used, pinned } of plans.values()) {
      for (const plan of [used, pinned]) if (plan !== null) await removeBatch(plan.batch);
    }
    await removeBatch(expired);
    return evicted;
  }

  async #removeBatch(run: Run, { listed, ...options }: Batch): Promise<Evicted> {
    const evicted: Evicted = { files: 0, bytes: 0 };
    if (listed.length === 0) return evicted;
    await this.#pinSigned(run);
    const files = listed.map(({ file }) => file);
    const claimed = await this.#claims.claim(run.server, files, options);
    const until = performance.now() + removalMs;
    const limit = pLimit(removals);
    const gone: EvictableFile[] = [];
    const wanted = new Set(claimed);
    const removing = listed
      .filter(({ file }) => wanted.has(file))
      .map(({ file, size, remove }) =>
        limit(async () => {
          // After a long pause of this process other processes may use the file again.
          if (run.signal.aborted || performance.now() > until) return;
          await remove();
          gone.push(file);
          evicted.files += 1;
          evicted.bytes += size;
        }),
      );
    const outcomes = await Promise.allSettled(removing);
    await this.#claims.release(claimed, gone);
    run.signal.throwIfAborted();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return evicted;
  }

  /**
   * Pins the files that signed URLs of manifests name, because Redis may have lost their pins. APIs record in MongoDB
   * the files that they are about to sign, and then pin them. All files signed since the last call are therefore pinned
   * before any file is claimed.
   */
  async #pinSigned(run: Run): Promise<void> {
    // Repeats after a long run: few URLs were signed in the meantime.
    while (performance.now() - run.pinning.at > inUseMs / 2) {
      const { signedSince } = run.pinning;
      run.pinning = { at: performance.now(), signedSince: new Date(Date.now() - clockSkewMs) };
      for await (const signed of listSignedFiles(this.#deps.db, signedSince)) {
        const files = signed.sha256s.map((sha256): EvictableFile => `cache:${sha256}`);
        await this.#claims.pinUntil(files, signed.signedUntil, signed.organizationId);
        run.signal.throwIfAborted();
      }
    }
  }

  async *#list(run: Run): AsyncGenerator<EvictableListing[]> {
    const { store } = this.#deps;
    for await (const page of store.archives.list()) {
      const expired = await this.#expired(page);
      const described = await this.#describe(run, page, ({ key }) => ({
        file: `archives:${key}`,
        remove: () => store.archives.delete(key),
      }));
      yield described.map((one, index) =>
        expired.has((page[index] as ListedArchive).key) ? { ...one, usedAt: 0, isPinned: false } : one,
      );
    }
    for await (const page of store.cache.list()) {
      yield await this.#describe(run, page, ({ sha256 }) => ({
        file: `cache:${sha256}`,
        remove: () => store.cache.delete(sha256),
      }));
    }
  }

  async #describe<Listed extends { size: number; storedAt: Date }>(
    run: Run,
    page: Listed[],
    toFile: (listed: Listed) => Pick<EvictableListing, 'file' | 'remove'>,
  ): Promise<EvictableListing[]> {
    run.signal.throwIfAborted();
    const files = page.map(toFile);
    const names = files.map(({ file }) => file);
    const [times, owners] = await Promise.all([this.#claims.timesOf(names), this.#claims.ownersOf(names)]);
    return page.map(({ size, storedAt }, index) => {
      const file = files[index] as Pick<EvictableListing, 'file' | 'remove'>;
      const stored = storedAt.getTime();
      return {
        ...file,
        size,
        owners: owners[index] ?? '',
        ...usageOf(run.now, file.file, { stored, used: 0, pinned: 0, ...times[index] }),
      };
    });
  }
}

function idsOf(owners: string): string[] {
  return owners === '' ? [] : owners.split(',');
}
