import { SharedWork } from '../platform/shared-work.ts';
import type { Downloader } from './downloads/downloader.ts';
import { inspect, sniffBytes } from './content-types.ts';
import { imageSizeOf, maxPictureHeadBytes } from './image-size.ts';
import { DownloadError, isTransient } from './downloads/failure.ts';
import { repairLimit } from './repaired-files.ts';
import { readSmall } from './small-files.ts';
import type { Database } from '../models/database.ts';
import { findRemoteFiles, saveRemoteFiles } from '../models/remote-file.ts';
import type { DownloadedFile, RemoteFile } from '../models/remote-file.ts';
import { bytesOf } from '../storage/digest.ts';
import type { Digest, Store } from '../storage/store.ts';

export interface RemoteRequest {
  url: string;
  /** The organization whose connections the download uses. */
  organizationId: string;
  mimeType: string;
  maxBytes: number;
  signal: AbortSignal;
  /** Called before each request, and again after a wait for a connection. An error that it throws ends the download. */
  beforeRequest?: () => void;
  /** Takes the bytes of a small download; returns false without room for them. Otherwise the store gets them. */
  hold?: (bytes: readonly Uint8Array[]) => boolean;
}

/** A file of the cache with its type: the declared one, or another of its family that the bytes show. */
export interface CachedMedium extends Digest {
  mimeType: string;
}

/**
 * Returns the key of the download that requests may share. Organizations do not share, because a download uses the
 * connections of the organization that started it. A wrong type or a lower limit must not fail a file for other lessons.
 */
export function downloadKey({
  organizationId,
  url,
  mimeType,
  maxBytes,
}: Pick<RemoteRequest, 'organizationId' | 'url' | 'mimeType'> & { maxBytes?: number }): string {
  return JSON.stringify([organizationId, maxBytes, mimeType, url]);
}

export interface MediaCacheDependencies {
  db: Database;
  store: Store;
  downloader: Downloader;
  /** Called for each available file: from the cache, or downloaded. */
  onLookup?: (result: 'hit' | 'miss') => void;
}

/** A file of the cache, or the bytes of a small download, which are nowhere else. */
interface Download {
  record: DownloadedFile;
  bytes: readonly Uint8Array[] | null;
  isNew: boolean;
}

/** The running downloads of this process, which concurrent builds of an organization share. */
const downloads = new SharedWork<Download>();

/**
 * Finds the external media of a build, or one media file for a learner, in the store's cache, or downloads them. A
 * cached file is revalidated with its ETag or Last-Modified. Media with the same URL and type share one download, even
 * across the organization's concurrent builds in this process.
 */
export class MediaCache {
  readonly #db: Database;
  readonly #store: Store;
  readonly #downloader: Downloader;
  readonly #onLookup: (result: 'hit' | 'miss') => void;
  /** All requested files, by limit and type, then by URL. */
  readonly #requested = new Map<string, Map<string, Promise<CachedMedium>>>();
  readonly #checked: DownloadedFile[] = [];
  readonly #known = new Map<string, RemoteFile>();

  constructor({ db, store, downloader, onLookup }: MediaCacheDependencies) {
    this.#db = db;
    this.#store = store;
    this.#downloader = downloader;
    this.#onLookup = onLookup ?? (() => undefined);
  }

  /** Looks up the records of URLs (about 1,000 at a time) that {@link get} will request. */
  async prepare(urls: string[]): Promise<void> {
    const found = await findRemoteFiles(this.#db, urls);
    for (const [url, file] of found) this.#known.set(url, file);
  }

  /**
   * Returns a URL's file, which is in the store's cache when this resolves, unless `hold` took it.
   *
   * @throws {DownloadError} with the reason for failedMedia.
   */
  get(request: RemoteRequest): Promise<CachedMedium> {
    // A wrong type or a lower limit must not fail the file for others.
    const kind = `${request.maxBytes} ${request.mimeType}`;
    const ofKind = this.#requested.get(kind) ?? new Map<string, Promise<CachedMedium>>();
    this.#requested.set(kind, ofKind);
    const requested = ofKind.get(request.url);
    if (requested !== undefined) return requested;
    const started = this.#find(request);
    ofKind.set(request.url, started);
    return started;
  }

  /** Saves the records of all files that were downloaded or revalidated, in one write. */
  async saveRecords(): Promise<void> {
    await saveRemoteFiles(this.#db, this.#checked.splice(0));
  }

  async #find(request: RemoteRequest): Promise<CachedMedium> {
    const known = await this.#usable(request);
    try {
      const { record, bytes } = await this.#share(request, known);
      if (bytes !== null && request.hold?.(bytes) !== true) await this.#store.cache.put(bytesOf(...bytes));
      return toMedium(record, request);
    } catch (error) {
      // A transient failure says nothing about the file, so Lectern uses the earlier copy.
      if (known === null || !(error instanceof DownloadError) || !isTransient(error)) throw error;
      this.#onLookup('hit');
      return toMedium(known, request);
    }
  }

  /** Downloads, or returns the outcome of a concurrent download of this process. */
  async #share(request: RemoteRequest, known: RemoteFile | null): Promise<Download> {
    let own: Promise<Download> | undefined;
    const download = downloads.join(
      downloadKey(request),
      request.signal,
      (signal) => (own = this.#download({ ...request, signal }, known)),
    );
    const { record, bytes, isNew } = await download;
    this.#checked.push(record);
    this.#onLookup(own !== undefined && isNew ? 'miss' : 'hit');
    return { record, bytes, isNew };
  }

  async #download(request: RemoteRequest, known: RemoteFile | null): Promise<Download> {
    const isPicture = /^image\//i.test(request.mimeType);
    let head = new FileHead();
    const result = await this.#downloader.download(
      { ...request, ...(known && { validators: validatorsOf(known) }) },
      (body) => {
        const watched = isPicture ? (head = new FileHead()).watch(body) : body;
        return readSmall(watched, (large) => this.#store.cache.put(large));
      },
    );
    const record = result.modified
      ? { ...toRecord(request, result), picture: isPicture ? imageSizeOf(head.bytes()) : null }
      : withoutCheckedAt(known as RemoteFile);
    return { record, bytes: result.modified ? result.stored.bytes : null, isNew: result.modified };
  }

  /** Returns the record of a URL if its file is in the cache, within the limit and of the declared type. */
  async #usable({ url, mimeType, maxBytes }: RemoteRequest): Promise<RemoteFile | null> {
    const known = this.#known.get(url);
    // Each URL is fetched once.
    this.#known.delete(url);
    if (known === undefined || known.file.size > maxBytes) return null;
    return (await this.#store.cache.has(known.file)) ? checkType(this.#store, known, mimeType) : null;
  }
}

/**
 * Checks a cached file against the declared type of a media file, because another media entry may have declared another
 * type.
 *
 * @returns the record with this type; null if the file contradicts it or is gone.
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
    // Only a download of such a type has repaired the file.
    const isFromBefore =
      repairLimit(mimeType) !== null && known.mimeType?.toLowerCase() !== mimeType.toLowerCase();
    return contradiction === null && !isFromBefore ? { ...known, declaredType, mimeType } : null;
  } finally {
    await open.close();
  }
}

function toMedium({ file, mimeType }: DownloadedFile, request: RemoteRequest): CachedMedium {
  const { sha256, crc32, size } = file;
  return { sha256, crc32, size, mimeType: mimeType ?? request.mimeType };
}

function toRecord(
  { url, mimeType: declaredType }: RemoteRequest,
  downloaded: { stored: Digest; mimeType: string; etag?: string; lastModified?: string },
): Omit<DownloadedFile, 'picture'> {
  const { stored, mimeType, etag = null, lastModified = null } = downloaded;
  const { sha256, crc32, size } = stored;
  return { url, file: { sha256, crc32, size }, declaredType, mimeType, etag, lastModified };
}

function withoutCheckedAt(known: RemoteFile): DownloadedFile {
  const { url, file, declaredType, mimeType, picture, etag, lastModified } = known;
  return { url, file, declaredType, mimeType, picture, etag, lastModified };
}

/** Keeps the beginning of a file that passes, in which pictures say their size. */
class FileHead {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  async *watch(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      if (this.#length < maxPictureHeadBytes) {
        // Its memory may be used again.
        this.#chunks.push(Buffer.from(chunk));
        this.#length += chunk.length;
      }
      yield chunk;
    }
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

function validatorsOf({ etag, lastModified }: RemoteFile): { etag?: string; lastModified?: string } {
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) };
}
