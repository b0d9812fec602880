import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { Config } from '../../shared/config.ts';
import type { Downloader } from '../../shared/downloads/downloader.ts';
import { DownloadError } from '../../shared/downloads/downloader.ts';
import type { Logger } from '../../shared/log.ts';
import { MediaCache } from '../../shared/media-cache.ts';
import type { Database } from '../../shared/models/database.ts';
import { findRemoteFiles } from '../../shared/models/remote-file.ts';
import type { Sharing } from '../../shared/sharing/sharing.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';

/** How long a request waits for a file that is fetched; the download goes on for those who ask later. */
const waitMilliseconds = 45_000;

/** How long one download may take. */
const downloadMilliseconds = 15 * 60_000;

/** Downloads at once, of all hosts together; the downloader limits those of one host. */
const concurrency = 64;

/** How long the outcome of a download stands: nobody asks a dead link more often than this. */
const outcomeMilliseconds = 60_000;

/** Outcomes that are remembered at once. */
const maxOutcomes = 10_000;

const hourMilliseconds = 3_600_000;

/** What a learner asks for. */
export interface ExternalMedium {
  url: string;
  mimeType: string;
  /** Where it is less than MEDIA_MAX_BYTES. */
  maxBytes?: number;
}

export interface ExternalMediaDependencies {
  db: Database;
  store: Store;
  downloader: Downloader;
  sharing: Sharing;
  config: Pick<Config, 'download' | 'mediaFreshHours'>;
  log: Logger;
}

/**
 * External media for learners: Lectern fetches them into the store's cache, and nobody else asks their origins. All
 * who want an address at once share one download, which no client that goes away can end.
 */
export class ExternalMedia {
  readonly #deps: ExternalMediaDependencies;
  readonly #milliseconds: number;
  readonly #limit = pLimit(concurrency);
  readonly #underWay = new Map<string, { file: Promise<Digest | null>; stop: AbortController }>();
  readonly #outcomes = new LRUCache<string, { file: Digest | null }>({
    max: maxOutcomes,
    ttl: outcomeMilliseconds,
  });

  /** @param options.milliseconds how long one download may take. */
  constructor(deps: ExternalMediaDependencies, { milliseconds = downloadMilliseconds } = {}) {
    this.#deps = deps;
    this.#milliseconds = milliseconds;
  }

  /**
   * The file behind an address, in the store's cache; null when it cannot be had, or not soon enough. A copy that was
   * checked within MEDIA_FRESH_HOURS is taken as it is; of an older one its origin is asked first.
   *
   * @throws the reason of the signal, when it is aborted.
   */
  async get(medium: ExternalMedium, signal: AbortSignal): Promise<Digest | null> {
    signal.throwIfAborted();
    const { file } = this.#underWay.get(keyOf(medium)) ?? this.#start(medium);
    let timer: NodeJS.Timeout | undefined;
    let leave: () => void = () => undefined;
    try {
      return await Promise.race([
        file,
        new Promise<null>((resolve) => (timer = setTimeout(resolve, waitMilliseconds, null))),
        new Promise<never>((_, reject) => {
          leave = () => reject(signal.reason as Error);
          signal.addEventListener('abort', leave);
        }),
      ]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Ends the downloads under way, and resolves when none is. */
  async close(): Promise<void> {
    const underWay = [...this.#underWay.values()];
    for (const { stop } of underWay) stop.abort(new Error('this process ends'));
    await Promise.allSettled(underWay.map(({ file }) => file));
  }

  #start(medium: ExternalMedium) {
    const stop = new AbortController();
    const file = this.#find(medium, stop).finally(() => this.#underWay.delete(keyOf(medium)));
    // Everybody who waits for it may be gone when it fails.
    file.catch(() => undefined);
    const started = { file, stop };
    this.#underWay.set(keyOf(medium), started);
    return started;
  }

  async #find(medium: ExternalMedium, stop: AbortController): Promise<Digest | null> {
    const outcome = this.#outcomes.get(keyOf(medium));
    if (outcome !== undefined && (outcome.file === null || (await this.#has(outcome.file)))) {
      return outcome.file;
    }
    const fresh = await this.#freshCopy(medium);
    if (fresh !== null) return fresh;
    const file = await this.#limit(() => this.#download(medium, stop));
    this.#outcomes.set(keyOf(medium), { file });
    return file;
  }

  async #freshCopy({ url, maxBytes }: ExternalMedium): Promise<Digest | null> {
    const { db, config } = this.#deps;
    const known = (await findRemoteFiles(db, [url])).get(url);
    if (known === undefined || known.file.size > Math.min(config.download.maxBytes, maxBytes ?? Infinity))
      return null;
    if (Date.now() - known.checkedAt.getTime() >= config.mediaFreshHours * hourMilliseconds) return null;
    return (await this.#has(known.file)) ? known.file : null;
  }

  async #download(
    { url, mimeType, maxBytes: limit = Infinity }: ExternalMedium,
    stop: AbortController,
  ): Promise<Digest | null> {
    const { config, log } = this.#deps;
    // No outcome that others share: a build that waits for the same file has more time, and downloads it then.
    const tooLong = new Error('The download took too long');
    const timer = setTimeout(() => stop.abort(tooLong), this.#milliseconds);
    try {
      stop.signal.throwIfAborted();
      const cache = new MediaCache(this.#deps);
      await cache.prepare([url]);
      const maxBytes = Math.min(config.download.maxBytes, limit);
      const file = await cache.get({ url, mimeType, maxBytes, signal: stop.signal });
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

  #has(file: Digest): Promise<boolean> {
    return this.#deps.store.cache.has(file);
  }
}

/** The type belongs to it: a lesson that declares the wrong one must not make the file fail for others. */
function keyOf({ url, mimeType }: ExternalMedium): string {
  return `${mimeType} ${url}`;
}
