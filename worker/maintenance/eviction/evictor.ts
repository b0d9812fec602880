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
import { isEvictable, usageOf } from './may-go.ts';
import type { FileUse } from './may-go.ts';

/** Over STORE_MAX_BYTES files go until so much of it is left: not at every file that comes. */
const lowWaterMark = 0.9;

/** On a full disk goes at least this part of what may go, so that the next builds find room as well. */
const fullDiskShare = 0.1;

const hourMs = 3_600_000;

/** Uses from before this are forgotten where no age is set: files so old have the time of their storage. */
const forgetAfterMs = 365 * 24 * hourMs;

/** How far the clocks of hosts may be apart. */
const clockSkewMs = 600_000;

/** How long no worker looks again: sizes grow quickly, ages slowly. Less than the pause between two sweeps. */
const sizeIntervalMs = 9 * 60_000;
const ageIntervalMs = 59 * 60_000;

/** Files that are chosen and removed together, and removed at once. */
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

/** What was evicted. */
export interface Evicted {
  files: number;
  bytes: number;
}

interface EvictableListing extends FileUse {
  file: EvictableFile;
  size: number;
  /** Ids of organizations, with commas between them. */
  owners: string;
  remove: () => Promise<void>;
}

/** Files that go together: used last before a time, and pinned or not. */
interface Batch {
  listed: EvictableListing[];
  before: number;
  force: boolean;
  owners: string;
}

/** One run: when it began, and what Redis knows. */
interface Run {
  server: string;
  now: number;
  knownSince: number;
  signal: AbortSignal;
  /** When the files that signed addresses name were noted last; what was signed since then is to be noted next. */
  noted: { at: number; signedSince: Date };
}

/** One process evicts at a time. */
const evictorLeaseMs = 30_000;

/**
 * Removes archives and downloaded files that were used longest ago: those beyond STORE_MAX_AGE, and as many as
 * STORE_MAX_BYTES asks for, of organizations that hold more than their share; besides, archives that lack files and
 * have had their time. Never a download that was used in the last minute, or is held. Files that signed URLs name, and
 * archives that were used in the last minute, go only for room, and only from organizations over their share.
 */
export class Evictor {
  readonly #deps: EvictionDependencies;
  readonly #files: EvictionClaims;
  readonly #leaseKey: string;

  constructor(deps: EvictionDependencies) {
    this.#deps = deps;
    this.#files = new EvictionClaims(deps.redis, deps.config.redisPrefix);
    this.#leaseKey = `${deps.config.redisPrefix}:files:evictor`;
  }

  /**
   * Keeps the store within its limits; null while another process does.
   *
   * @param ending ends the run before its time.
   * @throws when Redis, MongoDB or the store does not answer: what was not removed by then stays.
   */
  keepLimits(ending?: AbortSignal): Promise<Evicted | null> {
    const { maxBytes, maxAgeHours } = this.#deps.limits;
    return this.#run(ending, (total) => ({
      maxAge: maxAgeHours === 0 ? Infinity : maxAgeHours * hourMs,
      bytes: maxBytes > 0 && total > maxBytes ? total - maxBytes * lowWaterMark : 0,
    }));
  }

  /**
   * {@link Evictor.keepLimits}, where limits are set and no worker has done so lately: that reads the store's whole
   * listing. Null where there is nothing to do.
   */
  async takeTurn(ending?: AbortSignal): Promise<Evicted | null> {
    const { redis, config, limits } = this.#deps;
    const { maxBytes, maxAgeHours } = limits;
    // From now on uses are known, for when the disk is full.
    await this.#files.begin();
    if (maxBytes === 0 && maxAgeHours === 0) return null;
    const pause = maxBytes === 0 ? ageIntervalMs : sizeIntervalMs;
    const turn = await redis.set(`${config.redisPrefix}:files:turn`, '1', 'PX', pause, 'NX');
    return turn === null ? null : this.keepLimits(ending);
  }

  /** Frees at least so many bytes, where so many may go; else as {@link Evictor.keepLimits}. */
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
        ...(await this.#files.begin()),
        signal,
        noted: { at: -Infinity, signedSince: new Date(0) },
      };
      await this.#files.tidy(run.now - this.#memory());
      await this.#noteSigned(run);
      const groups = await this.#survey(run);
      const total = [...groups.values()].reduce((sum, group) => sum + group.total, 0);
      const { maxAge, bytes } = goalFor(total);
      // In the minute 0 are archives that no request is answered with.
      const cuts = fairCuts(groups, { oldest: Math.max(1, minuteOf(run.now - maxAge)), bytes });
      return cuts.size === 0 ? { files: 0, bytes: 0 } : this.#remove(run, cuts);
    });
  }

  /** How long uses matter. */
  #memory(): number {
    const { maxAgeHours } = this.#deps.limits;
    return maxAgeHours === 0 ? forgetAfterMs : maxAgeHours * hourMs;
  }

  /** Those of some archives that lack files and have not been served for a minute, because another build is due. */
  async #expired(archives: ListedArchive[]): Promise<Set<string>> {
    const { config, incomplete } = this.#deps;
    const keys = archives.map(({ key }) => key).filter(isIncomplete);
    const builds = await incomplete.find(keys.map(exportKeyOf));
    const isOver = (build: IncompleteBuild | null) =>
      build === null || build.ageMs > incompleteWaitMs(build.builds, config.export.degradedSeconds) + inUseMs;
    return new Set(keys.filter((_, index) => builds !== undefined && isOver(builds[index] ?? null)));
  }

  /** All bytes that count, and those that may go by when they were used, by who uses them. */
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
    // Whoever looked at one lately did not take it.
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
    await this.#noteSigned(run);
    const files = listed.map(({ file }) => file);
    const chosen = await this.#files.claim(run.server, files, options);
    const until = performance.now() + removalMs;
    const limit = pLimit(removals);
    const gone: EvictableFile[] = [];
    const wanted = new Set(chosen);
    const removing = listed
      .filter(({ file }) => wanted.has(file))
      .map(({ file, size, remove }) =>
        limit(async () => {
          // A process that stood still for long finds that others rely on the file again.
          if (run.signal.aborted || performance.now() > until) return;
          await remove();
          gone.push(file);
          evicted.files += 1;
          evicted.bytes += size;
        }),
      );
    const outcomes = await Promise.allSettled(removing);
    await this.#files.release(chosen, gone);
    run.signal.throwIfAborted();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return evicted;
  }

  /**
   * Pins files that the signed URLs of manifests name, because Redis may have lost that. APIs pin them as well, after
   * they have recorded in MongoDB what they sign: so what was signed since the last call is pinned before files are
   * chosen.
   */
  async #noteSigned(run: Run): Promise<void> {
    // Again where it took long: then few were signed since.
    while (performance.now() - run.noted.at > inUseMs / 2) {
      const { signedSince } = run.noted;
      run.noted = { at: performance.now(), signedSince: new Date(Date.now() - clockSkewMs) };
      for await (const signed of listSignedFiles(this.#deps.db, signedSince)) {
        const files = signed.sha256s.map((sha256): EvictableFile => `cache:${sha256}`);
        await this.#files.pinUntil(files, signed.signedUntil, signed.organizationId);
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
    const [times, owners] = await Promise.all([this.#files.timesOf(names), this.#files.ownersOf(names)]);
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
