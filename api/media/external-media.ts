import { LRUCache } from 'lru-cache';
import { withDeadline } from '../../shared/platform/time-limits.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Downloader } from '../../shared/media/downloads/downloader.ts';
import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { checkType, downloadKey, MediaCache } from '../../shared/media/media-cache.ts';
import type { CachedMedium } from '../../shared/media/media-cache.ts';
import type { Database } from '../../shared/models/database.ts';
import { findRemoteFiles } from '../../shared/models/remote-file.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';

/** How long a request waits for a download, which continues for later requests. */
const waitMs = 45_000;

/** How long one download may take. */
const downloadTimeoutMs = 15 * 60_000;

/** How long a download continues after its last client disconnected: long enough for a reload. */
const graceMs = 5_000;

/** The maximum of an organization's concurrent downloads in an API process. */
export const maxPlayerDownloads = 16;

/** How long an outcome is remembered, so that a dead link is requested at most once in this time. */
const outcomeTtlMs = 60_000;

/** The number of remembered outcomes. */
const maxOutcomes = 10_000;

const hourMs = 3_600_000;

/** An external file that a learner requests. */
export interface ExternalMedium {
  organizationId: string;
  url: string;
  mimeType: string;
  /** A limit below MEDIA_MAX_BYTES. */
  maxBytes?: number;
}

/** A download with the number of its waiting clients. */
interface SharedDownload {
  key: string;
  file: Promise<CachedMedium | null>;
  stop: AbortController;
  waiting: number;
  /**
   * Whether it continues without clients: one client has waited for the maximum time and will request the file again.
   */
  isKept: boolean;
  abandoning: NodeJS.Timeout | undefined;
}

export interface ExternalMediaDependencies {
  db: Database;
  store: Store;
  downloader: Downloader;
  config: Pick<Config, 'download' | 'mediaFreshHours'>;
  log: Logger;
}

/**
 * Serves external media to learners: Lectern alone contacts their origins, and keeps the files in the store's cache.
 * Concurrent requests of an organization for a URL share one download. It ends soon after the last client disconnects,
 * so abandoned requests delay no others.
 */
export class ExternalMedia {
  readonly #deps: ExternalMediaDependencies;
  readonly #times: { downloadMs: number; abandonedMs: number };
  /** The downloads that new requests join, by key. */
  readonly #shared = new Map<string, SharedDownload>();
  /** All running downloads. */
  readonly #running = new Set<SharedDownload>();
  readonly #outcomes = new LRUCache<string, { file: CachedMedium | null }>({
    max: maxOutcomes,
    ttl: outcomeTtlMs,
  });

  /** @param times the timeout of a download, and how long it continues without clients, in milliseconds. */
  constructor(
    deps: ExternalMediaDependencies,
    { downloadMs = downloadTimeoutMs, abandonedMs = graceMs } = {},
  ) {
    this.#deps = deps;
    this.#times = { downloadMs, abandonedMs };
  }

  /**
   * Returns a URL's file in the store's cache; null when it is unavailable or takes too long. A copy that was checked
   * within MEDIA_FRESH_HOURS is used as it is; an older one is revalidated at its origin.
   *
   * @throws the signal's reason when it is aborted.
   */
  async get(medium: ExternalMedium, signal: AbortSignal): Promise<CachedMedium | null> {
    signal.throwIfAborted();
    const download = this.#shared.get(downloadKey(medium)) ?? this.#start(medium);
    this.#join(download);
    const late = () => {
      // The client is still connected, and will request the file again after this wait.
      download.isKept = true;
      return null;
    };
    try {
      return await withDeadline(download.file, { timeoutMs: waitMs, signal, late });
    } finally {
      this.#leave(download);
    }
  }

  /** Aborts all downloads; resolves when none is running. */
  async close(): Promise<void> {
    const running = [...this.#running];
    for (const { stop } of running) stop.abort(new Error('this process is shutting down'));
    await Promise.allSettled(running.map(({ file }) => file));
  }

  #start(medium: ExternalMedium): SharedDownload {
    const key = downloadKey(medium);
    const stop = new AbortController();
    const file = this.#find(medium, stop).finally(() => {
      clearTimeout(started.abandoning);
      this.#running.delete(started);
      this.#unshare(started);
    });
    // When it fails, all clients may have disconnected.
    file.catch(() => undefined);
    const started: SharedDownload = { key, file, stop, waiting: 0, isKept: false, abandoning: undefined };
    this.#running.add(started);
    this.#shared.set(key, started);
    return started;
  }

  #join(download: SharedDownload): void {
    download.waiting += 1;
    clearTimeout(download.abandoning);
  }

  #leave(download: SharedDownload): void {
    download.waiting -= 1;
    if (download.waiting > 0 || download.isKept || !this.#running.has(download)) return;
    download.abandoning = setTimeout(() => {
      this.#unshare(download);
      download.stop.abort(new Error('no client waits for this file'));
    }, this.#times.abandonedMs);
  }

  /** Later requests start a new download. */
  #unshare(download: SharedDownload): void {
    if (this.#shared.get(download.key) === download) this.#shared.delete(download.key);
  }

  async #find(medium: ExternalMedium, stop: AbortController): Promise<CachedMedium | null> {
    const outcome = this.#outcomes.get(downloadKey(medium));
    if (outcome !== undefined && (outcome.file === null || (await this.#has(outcome.file)))) {
      return outcome.file;
    }
    const fresh = await this.#freshCopy(medium);
    if (fresh !== null) return fresh;
    const file = await this.#download(medium, stop);
    this.#outcomes.set(downloadKey(medium), { file });
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
    // Builds do not share this timeout: they have more time and download the file themselves.
    const tooLong = new Error('The download took too long');
    const timer = setTimeout(() => stop.abort(tooLong), this.#times.downloadMs);
    try {
      stop.signal.throwIfAborted();
      const cache = new MediaCache(this.#deps);
      await cache.prepare([url]);
      const maxBytes = Math.min(config.download.maxBytes, limit);
      const file = await cache.get({ organizationId, url, mimeType, maxBytes, signal: stop.signal });
      await cache.saveRecords();
      return file;
    } catch (error) {
      const failure = error === tooLong ? new DownloadError('timeout', tooLong.message) : error;
      if (!(failure instanceof DownloadError)) throw error;
      log.warn({ reason: failure.reason, detail: failure.message }, 'an external media file is unavailable');
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  #has(file: Digest): Promise<boolean> {
    return this.#deps.store.cache.has(file);
  }
}
