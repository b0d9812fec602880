import type { Database } from '../../shared/models/database.ts';
import { findRemoteFiles, saveRemoteFile } from '../../shared/models/remote-file.ts';
import type { RemoteFile } from '../../shared/models/remote-file.ts';
import type { FailureReason } from '../../shared/packages/manifest.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';
import { DownloadError } from './download/downloader.ts';
import type { Downloader } from './download/downloader.ts';

/** Failures that say nothing about the file: a copy that was good before is better than none. */
const passingReasons: readonly FailureReason[] = [
  'network',
  'server_error',
  'timeout',
  'rate_limited',
  'truncated',
];

/** How many addresses one query asks for. */
const lookupBatch = 1000;

export interface RemoteRequest {
  url: string;
  mimeType: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * The external media of one build, by way of the store's cache: what is there is only asked for changes (ETag or
 * Last-Modified), an address that several media share is fetched once.
 */
export class MediaCache {
  readonly #db: Database;
  readonly #store: Store;
  readonly #downloader: Downloader;
  readonly #underWay = new Map<string, Promise<Digest>>();
  #known = new Map<string, RemoteFile>();

  constructor(db: Database, store: Store, downloader: Downloader) {
    this.#db = db;
    this.#store = store;
    this.#downloader = downloader;
  }

  /** Looks up at once what is known of all addresses that will be asked for. */
  async prepare(urls: string[]): Promise<void> {
    for (let start = 0; start < urls.length; start += lookupBatch) {
      const found = await findRemoteFiles(this.#db, urls.slice(start, start + lookupBatch));
      this.#known = new Map([...this.#known, ...found]);
    }
  }

  /**
   * The file behind an address, in the store's cache when this resolves.
   *
   * @throws {DownloadError} with the reason for failedMedia.
   */
  get(request: RemoteRequest): Promise<Digest> {
    const running = this.#underWay.get(request.url);
    if (running !== undefined) return running;
    const started = this.#fetch(request);
    this.#underWay.set(request.url, started);
    return started;
  }

  async #fetch(request: RemoteRequest): Promise<Digest> {
    const known = await this.#usable(request);
    try {
      const result = await this.#downloader.download(
        { ...request, ...(known && { validators: validatorsOf(known) }) },
        (body) => this.#store.cache.put(body),
      );
      if (!result.modified) return (known as RemoteFile).file;
      const { sha256, crc32, size } = result.stored;
      const file = { sha256, crc32, size };
      await saveRemoteFile(this.#db, {
        url: request.url,
        file,
        etag: result.etag ?? null,
        lastModified: result.lastModified ?? null,
      });
      return file;
    } catch (error) {
      if (known !== null && error instanceof DownloadError && passingReasons.includes(error.reason))
        return known.file;
      throw error;
    }
  }

  /** What is known of an address, if its file is still in the cache and within the limit. */
  async #usable({ url, maxBytes }: RemoteRequest): Promise<RemoteFile | null> {
    const known = this.#known.get(url);
    if (known === undefined || known.file.size > maxBytes) return null;
    const file = await this.#store.cache.open(known.file);
    await file?.close();
    return file === null ? null : known;
  }
}

function validatorsOf({ etag, lastModified }: RemoteFile): { etag?: string; lastModified?: string } {
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) };
}
