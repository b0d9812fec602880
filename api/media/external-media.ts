import { LRUCache } from 'lru-cache';
import { withDeadline } from '../../shared/platform/time-limits.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Downloader } from '../../shared/media/downloads/downloader.ts';
import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { checkType, MediaCache } from '../../shared/media/media-cache.ts';
import type { CachedMedium, CacheCoordination } from '../../shared/media/media-cache.ts';
import type { Database } from '../../shared/models/database.ts';
import { findRemoteFiles } from '../../shared/models/remote-file.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';

/** How long a request waits for a file that is fetched; the download goes on for those who ask later. */
const waitMs = 45_000;

/** How long one download may take. */
const downloadTimeoutMs = 15 * 60_000;

/** How long a download goes on after the last client that waited for it is gone: long enough for a reload. */
const graceMs = 5_000;

/** Requests at once to all hosts together, for the downloader of a process that serves learners. */
export const playerDownloadLimits = { total: 64, perOrganization: 16 };

/** How long the outcome of a download stands: nobody asks a dead link more often than this. */
const outcomeTtlMs = 60_000;

/** Outcomes that are remembered at once. */
const maxOutcomes = 10_000;

const hourMs = 3_600_000;

/** What a learner asks for. */
export interface ExternalMedium {
  organizationId: string;
  url: string;
  mimeType: string;
  /** Where it is less than MEDIA_MAX_BYTES. */
  maxBytes?: number;
}

/** One download, and the clients that wait for it. */
interface SharedDownload {
  key: string;
  file: Promise<CachedMedium | null>;
  stop: AbortController;
  waiting: number;
  /** Whether it goes on without clients: one has waited as long as a request may. */
  isKept: boolean;
  abandoning: NodeJS.Timeout | undefined;
}

export interface ExternalMediaDependencies {
  db: Database;
  store: Store;
  downloader: Downloader;
  coordination: CacheCoordination;
  config: Pick<Config, 'download' | 'mediaFreshHours'>;
  log: Logger;
}

/**
 * External media for learners: Lectern fetches them into the store's cache, and nobody else asks their origins.
 * Concurrent requests of an organization for a URL share one download. It ends soon after the last client disconnects,
 * so abandoned requests take no slots from others.
 */
export class ExternalMedia {
  readonly #deps: ExternalMediaDependencies;
  readonly #times: { milliseconds: number; grace: number };
  /** Those that newcomers join, by key. */
  readonly #shared = new Map<string, SharedDownload>();
  /** All that have not ended. */
  readonly #underWay = new Set<SharedDownload>();
  readonly #outcomes = new LRUCache<string, { file: CachedMedium | null }>({
    max: maxOutcomes,
    ttl: outcomeTtlMs,
  });

  /** @param times how long one download may take, and how long one goes on that no client waits for; milliseconds. */
  constructor(deps: ExternalMediaDependencies, { milliseconds = downloadTimeoutMs, grace = graceMs } = {}) {
    this.#deps = deps;
    this.#times = { milliseconds, grace };
  }

  /**
   * The file behind an address, in the store's cache; null when it cannot be had, or not soon enough. A copy that was
   * checked within MEDIA_FRESH_HOURS is taken as it is; of an older one its origin is asked first.
   *
   * @throws the reason of the signal, when it is aborted.
   */
  async get(medium: ExternalMedium, signal: AbortSignal): Promise<CachedMedium | null> {
    signal.throwIfAborted();
    const download = this.#shared.get(keyOf(medium)) ?? this.#start(medium);
    this.#join(download);
    const late = () => {
      // The client is still there, and will ask again for a file that takes longer.
      download.isKept = true;
      return null;
    };
    try {
      return await withDeadline(download.file, { timeoutMs: waitMs, signal, late });
    } finally {
      this.#leave(download);
    }
  }

  /** Ends the downloads under way, and resolves when none is. */
  async close(): Promise<void> {
    const underWay = [...this.#underWay];
    for (const { stop } of underWay) stop.abort(new Error('this process ends'));
    await Promise.allSettled(underWay.map(({ file }) => file));
  }

  #start(medium: ExternalMedium): SharedDownload {
    const key = keyOf(medium);
    const stop = new AbortController();
    const file = this.#find(medium, stop).finally(() => {
      clearTimeout(started.abandoning);
      this.#underWay.delete(started);
      this.#unshare(started);
    });
    // All clients that wait for it may be gone when it fails.
    file.catch(() => undefined);
    const started: SharedDownload = { key, file, stop, waiting: 0, isKept: false, abandoning: undefined };
    this.#underWay.add(started);
    this.#shared.set(key, started);
    return started;
  }

  #join(download: SharedDownload): void {
    download.waiting += 1;
    clearTimeout(download.abandoning);
  }

  #leave(download: SharedDownload): void {
    download.waiting -= 1;
    if (download.waiting > 0 || download.isKept || !this.#underWay.has(download)) return;
    download.abandoning = setTimeout(() => {
      this.#unshare(download);
      download.stop.abort(new Error('no client waits for this file any more'));
    }, this.#times.grace);
  }

  /** Newcomers start a download of their own. */
  #unshare(download: SharedDownload): void {
    if (this.#shared.get(download.key) === download) this.#shared.delete(download.key);
  }

  async #find(medium: ExternalMedium, stop: AbortController): Promise<CachedMedium | null> {
    const outcome = this.#outcomes.get(keyOf(medium));
    if (outcome !== undefined && (outcome.file === null || (await this.#has(outcome.file)))) {
      return outcome.file;
    }
    const fresh = await this.#freshCopy(medium);
    if (fresh !== null) return fresh;
    const file = await this.#download(medium, stop);
    this.#outcomes.set(keyOf(medium), { file });
    return file;
  }

  async #freshCopy({ url, mimeType, maxBytes }: ExternalMedium): Promise<CachedMedium | null> {
    const { db, config } = this.#deps;
    const known = (await findRemoteFiles(db, [url])).get(url);
    if (known === undefined || known.file.size > Math.min(config.download.maxBytes, maxBytes ?? Infinity))
      return null;
    if (Date.now() - known.checkedAt.getTime() >= config.mediaFreshHours * hourMs) return null;
    if (!(await this.#has(known.file))) return null;
    const checked = await checkType(this.#deps.store, known, mimeType);
    return checked && { ...known.file, mimeType: checked.mimeType ?? mimeType };
  }

  async #download(
    { organizationId, url, mimeType, maxBytes: limit = Infinity }: ExternalMedium,
    stop: AbortController,
  ): Promise<CachedMedium | null> {
    const { config, log } = this.#deps;
    // No outcome that others share: a build that waits for the same file has more time, and downloads it then.
    const tooLong = new Error('The download took too long');
    const timer = setTimeout(() => stop.abort(tooLong), this.#times.milliseconds);
    try {
      stop.signal.throwIfAborted();
      const cache = new MediaCache(this.#deps);
      await cache.prepare([url]);
      const maxBytes = Math.min(config.download.maxBytes, limit);
      const file = await cache.get({ organizationId, url, mimeType, maxBytes, signal: stop.signal });
      await cache.flush();
      return file;
    } catch (error) {
      const failure = error === tooLong ? new DownloadError('timeout', tooLong.message) : error;
      if (!(failure instanceof DownloadError)) throw error;
      log.warn({ reason: failure.reason, detail: failure.message }, 'an external medium cannot be had');
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Redirects pin what they lead to. */
  #has(file: Digest): Promise<boolean> {
    return this.#deps.store.cache.has(file, 'glance');
  }
}

/**
 * Names the download that a request may share. An organization shares its own only: a download waits for the slots of
 * the organization that started it. Neither a wrong type nor a lower limit makes a file fail for other lessons.
 */
function keyOf({ organizationId, url, mimeType, maxBytes }: ExternalMedium): string {
  return JSON.stringify([organizationId, maxBytes, mimeType, url]);
}
