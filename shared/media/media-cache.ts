import type { Downloader } from './downloads/downloader.ts';
import { inspect, sniffBytes } from './downloads/content-types.ts';
import { DownloadError, isTransient } from './downloads/failure.ts';
import type { DownloadLeases } from './downloads/leases.ts';
import type { Database } from '../models/database.ts';
import { findRemoteFiles, saveRemoteFiles } from '../models/remote-file.ts';
import type { DownloadedFile, RemoteFile } from '../models/remote-file.ts';
import type { EvictableFile, FileUsage } from '../storage/file-usage.ts';
import type { Digest, Store } from '../storage/store.ts';

/** How many files are noted at once: what a worker that dies has to download again, at most. */
const saveBatch = 100;

export interface RemoteRequest {
  url: string;
  /** Whose share of the downloads it takes. */
  organizationId: string;
  mimeType: string;
  maxBytes: number;
  signal: AbortSignal;
}

/** A file of the cache, and what it is: the declared type, or the one of its family that its bytes show. */
export interface CachedMedium extends Digest {
  mimeType: string;
}

/** What the cache shares with other processes. */
export interface CacheCoordination {
  downloads: DownloadLeases;
  usage: FileUsage;
}

export interface MediaCacheDependencies {
  db: Database;
  store: Store;
  downloader: Downloader;
  coordination: CacheCoordination;
  /** Told of each file that was had: from the cache, or downloaded just now. */
  onLookup?: (result: 'hit' | 'miss') => void;
}

/**
 * The external media of one build, or one medium for a learner, by way of the store's cache: what is there is only
 * asked for changes (ETag or Last-Modified), a URL that several media of one type share is fetched once, also when
 * other builds of the organization want it at the same time, in whatever process.
 */
export class MediaCache {
  readonly #db: Database;
  readonly #store: Store;
  readonly #downloader: Downloader;
  readonly #coordination: CacheCoordination;
  readonly #onLookup: (result: 'hit' | 'miss') => void;
  /** All that were asked for, by limit and type, then by URL. */
  readonly #wanted = new Map<string, Map<string, Promise<CachedMedium>>>();
  readonly #checked: DownloadedFile[] = [];
  readonly #known = new Map<string, RemoteFile>();
  /** Since when the first of the files is wanted. */
  #since: number | undefined;

  constructor({ db, store, downloader, coordination, onLookup }: MediaCacheDependencies) {
    this.#db = db;
    this.#store = store;
    this.#downloader = downloader;
    this.#coordination = coordination;
    this.#onLookup = onLookup ?? (() => undefined);
  }

  /** Looks up at once what is known of some addresses, 1,000 or so, that will be asked for. */
  async prepare(urls: string[]): Promise<void> {
    this.#since ??= await this.#coordination.downloads.now();
    const found = await findRemoteFiles(this.#db, urls);
    for (const [url, file] of found) this.#known.set(url, file);
    // At once: looking for one after the other would note them one by one.
    const files = [...found.values()].map(({ file }): EvictableFile => `cache:${file.sha256}`);
    await this.#coordination.usage.touch(files);
  }

  /**
   * The file behind an address, in the store's cache when this resolves.
   *
   * @throws {DownloadError} with the reason for failedMedia.
   */
  get(request: RemoteRequest): Promise<CachedMedium> {
    // A medium with a wrong type, or a widget with its lower limit, must not make the file fail for others.
    const kind = `${request.maxBytes} ${request.mimeType}`;
    const ofKind = this.#wanted.get(kind) ?? new Map<string, Promise<CachedMedium>>();
    this.#wanted.set(kind, ofKind);
    const running = ofKind.get(request.url);
    if (running !== undefined) return running;
    const started = this.#fetch(request);
    ofKind.set(request.url, started);
    return started;
  }

  /** Notes for later what was downloaded, or found unchanged, since the last note. */
  async flush(): Promise<void> {
    await saveRemoteFiles(this.#db, this.#checked.splice(0));
  }

  /** Notes are written many at a time: one by one they would cost more than small files do. */
  async #remember(file: DownloadedFile): Promise<void> {
    this.#checked.push(file);
    if (this.#checked.length >= saveBatch) await this.flush();
  }

  async #fetch(request: RemoteRequest): Promise<CachedMedium> {
    const known = await this.#usable(request);
    // Its origin may take longer to answer than a use lasts that was noted.
    const hold = this.#coordination.usage.pin();
    if (known !== null) hold.add(`cache:${known.file.sha256}`);
    try {
      const since = this.#since ?? Number.MAX_SAFE_INTEGER;
      const downloaded = { here: false };
      const download = () => {
        downloaded.here = true;
        return this.#download(request, known);
      };
      const shared = await this.#coordination.downloads.share({ ...request, since }, download);
      const { file } = shared;
      if (downloaded.here) return toMedium(shared, request);
      // What another process downloaded is in this store where all have one store, as they should.
      const usable = file.size <= request.maxBytes && (await this.#store.cache.has(file));
      if (!usable) return toMedium(await this.#download(request, known), request);
      this.#onLookup('hit');
      return toMedium(shared, request);
    } catch (error) {
      // A failure that says nothing about the file: a copy that was good before is better than none.
      if (known === null || !(error instanceof DownloadError) || !isTransient(error)) throw error;
      this.#onLookup('hit');
      return toMedium(known, request);
    } finally {
      hold.release();
    }
  }

  async #download(request: RemoteRequest, known: RemoteFile | null): Promise<DownloadedFile> {
    const result = await this.#downloader.download(
      { ...request, ...(known && { validators: validatorsOf(known) }) },
      (body) => this.#store.cache.put(body),
    );
    const downloaded = result.modified ? toDownloaded(request, result) : withoutCheck(known as RemoteFile);
    await this.#remember(downloaded);
    this.#onLookup(result.modified ? 'miss' : 'hit');
    return downloaded;
  }

  /** What is known of an address, if its file is still in the cache, within the limit and of the declared type. */
  async #usable({ url, mimeType, maxBytes }: RemoteRequest): Promise<RemoteFile | null> {
    const known = this.#known.get(url);
    // Each address is fetched once.
    this.#known.delete(url);
    if (known === undefined || known.file.size > maxBytes) return null;
    return (await this.#store.cache.has(known.file)) ? checkType(this.#store, known, mimeType) : null;
  }
}

/**
 * Checks a cached file against the type that a medium declares. Another medium may have declared another one.
 *
 * @returns what is known of the file as this type; null where it contradicts it, or is gone.
 */
export async function checkType(
  store: Store,
  known: RemoteFile,
  declaredType: string,
): Promise<RemoteFile | null> {
  if (known.declaredType === declaredType) return known;
  const open = await store.cache.open(known.file);
  if (open === null) return null;
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of open.chunks(0, Math.min(sniffBytes, open.size)))
      chunks.push(Buffer.from(chunk));
    const { contradiction, mimeType } = await inspect(declaredType, Buffer.concat(chunks));
    return contradiction === null ? { ...known, declaredType, mimeType } : null;
  } finally {
    await open.close();
  }
}

function toMedium({ file, mimeType }: DownloadedFile, request: RemoteRequest): CachedMedium {
  const { sha256, crc32, size } = file;
  return { sha256, crc32, size, mimeType: mimeType ?? request.mimeType };
}

function toDownloaded(
  { url, mimeType: declaredType }: RemoteRequest,
  downloaded: { stored: Digest; mimeType: string; etag?: string; lastModified?: string },
): DownloadedFile {
  const { stored, mimeType, etag = null, lastModified = null } = downloaded;
  const { sha256, crc32, size } = stored;
  return { url, file: { sha256, crc32, size }, declaredType, mimeType, etag, lastModified };
}

function withoutCheck({ url, file, declaredType, mimeType, etag, lastModified }: RemoteFile): DownloadedFile {
  return { url, file, declaredType, mimeType, etag, lastModified };
}

function validatorsOf({ etag, lastModified }: RemoteFile): { etag?: string; lastModified?: string } {
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) };
}
