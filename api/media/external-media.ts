import { LRUCache } from 'lru-cache';
import { atMost } from '../../shared/platform/cache-size.ts';
import { onAbort } from '../../shared/platform/abort-listeners.ts';
import { SharedWork } from '../../shared/platform/shared-work.ts';
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
  readonly #shared = new SharedWork<CachedMedium | null>({ graceMs });
  readonly #outcomes = new LRUCache<string, { file: CachedMedium | null }>({
    ...atMost(maxOutcomes),
    ttl: outcomeTtlMs,
  });

  constructor(deps: ExternalMediaDependencies) {
    this.#deps = deps;
  }

  /**
   * Returns a URL's file in the store's cache; null when it is unavailable or takes too long. A copy that was checked
   * within MEDIA_FRESH_HOURS is used as it is; an older one is revalidated at its origin.
   *
   * @throws the signal's reason when it is aborted.
   */
  async get(medium: ExternalMedium, signal: AbortSignal): Promise<CachedMedium | null> {
    signal.throwIfAborted();
    const leaving = new AbortController();
    const stopListening = onAbort(signal, () => leaving.abort(signal.reason));
    const found = this.#shared.join(downloadKey(medium), leaving.signal, (stop) => this.#find(medium, stop));
    // The client requests the file again after this wait, so it does not leave.
    return withDeadline(found, { timeoutMs: waitMs, signal, late: () => null }).finally(stopListening);
  }

  /** Aborts all downloads; resolves when none is running. */
  close(): Promise<void> {
    return this.#shared.close();
  }

  async #find(medium: ExternalMedium, signal: AbortSignal): Promise<CachedMedium | null> {
    const outcome = this.#outcomes.get(downloadKey(medium));
    if (outcome !== undefined && (outcome.file === null || (await this.#has(outcome.file)))) {
      return outcome.file;
    }
    const fresh = await this.#freshCopy(medium);
    if (fresh !== null) return fresh;
    const file = await this.#download(medium, signal);
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
    signal: AbortSignal,
  ): Promise<CachedMedium | null> {
    const { config, log } = this.#deps;
    signal.throwIfAborted();
    const cache = new MediaCache(this.#deps);
    await cache.prepare([url]);
    const maxBytes = Math.min(config.download.maxBytes, limit);
    try {
      const file = await cache.get({ organizationId, url, mimeType, maxBytes, signal });
      await cache.saveRecords();
      return file;
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      log.warn({ reason: error.reason, detail: error.message }, 'an external media file is unavailable');
      return null;
    }
  }

  #has(file: Digest): Promise<boolean> {
    return this.#deps.store.cache.has(file);
  }
}
