import type { Downloader } from './downloads/downloader.ts';
import { DownloadError, isPassing } from './downloads/failure.ts';
import type { Database } from './models/database.ts';
import { findRemoteFiles, saveRemoteFiles } from './models/remote-file.ts';
import type { DownloadedFile, RemoteFile } from './models/remote-file.ts';
import type { Digest, Store } from './storage/store.ts';

/** How many addresses one query asks for. */
const lookupBatch = 1000;

/** How many files are noted at once: what a worker that dies has to download again, at most. */
const noteBatch = 100;

export interface RemoteRequest {
  url: string;
  mimeType: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * The external media of one build, or one medium for a learner, by way of the store's cache: what is there is only
 * asked for changes (ETag or Last-Modified), an address that several media share is fetched once.
 */
export class MediaCache {
  readonly #db: Database;
  readonly #store: Store;
  readonly #downloader: Downloader;
  readonly #underWay = new Map<string, Promise<Digest>>();
  readonly #checked: DownloadedFile[] = [];
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

  /** Notes for later what was downloaded, or found unchanged, since the last note. */
  async flush(): Promise<void> {
    await saveRemoteFiles(this.#db, this.#checked.splice(0));
  }

  /** Notes are written many at a time: one by one they would cost more than small files do. */
  async #remember(file: DownloadedFile): Promise<void> {
    this.#checked.push(file);
    if (this.#checked.length >= noteBatch) await this.flush();
  }

  async #fetch(request: RemoteRequest): Promise<Digest> {
    const known = await this.#usable(request);
    try {
      const result = await this.#downloader.download(
        { ...request, ...(known && { validators: validatorsOf(known) }) },
        (body) => this.#store.cache.put(body),
      );
      if (!result.modified) {
        const { url, file, etag, lastModified } = known as RemoteFile;
        await this.#remember({ url, file, etag, lastModified });
        return file;
      }
      const { sha256, crc32, size } = result.stored;
      const file = { sha256, crc32, size };
      await this.#remember({
        url: request.url,
        file,
        etag: result.etag ?? null,
        lastModified: result.lastModified ?? null,
      });
      return file;
    } catch (error) {
      // A failure that says nothing about the file: a copy that was good before is better than none.
      if (known !== null && error instanceof DownloadError && isPassing(error)) return known.file;
      throw error;
    }
  }

  /** What is known of an address, if its file is still in the cache and within the limit. */
  async #usable({ url, maxBytes }: RemoteRequest): Promise<RemoteFile | null> {
    const known = this.#known.get(url);
    if (known === undefined || known.file.size > maxBytes) return null;
    return (await this.#store.cache.has(known.file)) ? known : null;
  }
}

function validatorsOf({ etag, lastModified }: RemoteFile): { etag?: string; lastModified?: string } {
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) };
}
