/**
 * How exactly stores know the last use of a copy: a use within this time after the recorded one may not be recorded.
 * Recording each would cost a write for each read.
 */
export const useResolutionMs = 600_000;

/**
 * Lectern's files: media and widget bundles (blobs, named by their digest) and archives (named by their export key).
 * One interface with two implementations: a folder, and a bucket of an S3-compatible service.
 */

/** Digests that Lectern computed itself. */
export interface Digest {
  /** Lower-case hex. */
  sha256: string;
  /** An unsigned 32-bit number, as ZIP requires. */
  crc32: number;
  /** Bytes. */
  size: number;
}

/**
 * An open stored file. In a folder it stays readable until closed, even if it is deleted meanwhile. In a bucket an
 * archive stays readable for at least an hour; a deleted blob fails its reader. Neither ever returns other bytes.
 */
export interface OpenFile {
  readonly size: number;
  /** Reads from `start` up to but not including `end`. Fails if the file is shorter than `size`. */
  chunks(start?: number, end?: number): AsyncIterable<Uint8Array>;
  /**
   * Passes the same bytes to `write`, chunk by chunk, each after the previous write resolved. The memory of a chunk is
   * then reused.
   */
  send(write: (chunk: Uint8Array) => Promise<void>, start?: number, end?: number): Promise<void>;
  /** Returns where a proxy reads the file; null if its bytes are in memory. */
  proxySource(): Promise<ProxySource | null>;
  close(): Promise<void>;
}

/** Where a proxy reads a file that it sends. */
export type ProxySource =
  /** A file, with its absolute path, and its path in the store's folder `v1`. */
  | { kind: 'file'; path: string; name: string }
  /** A presigned URL of an object, for a proxy that knows the host of the bucket: path and query, without the leading slash. */
  | { kind: 'object'; target: string };

/** Options of a presigned URL. */
export interface PresignedUrlOptions {
  /** The lifetime of the URL in seconds, at most 7 days. */
  seconds: number;
  /** The Content-Type of the response. */
  contentType: string;
  /** Its Content-Disposition. */
  contentDisposition: string;
}

/** @param small all chunks of a small blob, which the caller may keep; undefined for a larger one. */
export type AnnounceBlob = (digest: Digest, small: readonly Uint8Array[] | undefined) => Promise<void>;

export interface BlobStore {
  /**
   * Stores bytes under their SHA-256. If the source fails, nothing is stored and its error is thrown.
   *
   * @param announce is called before the blob exists, so that the caller can record it first. If it fails, nothing is
   * stored and its error is thrown.
   */
  put(source: AsyncIterable<Uint8Array>, announce?: AnnounceBlob): Promise<Digest>;
  /**
   * Returns null if there is no such blob, or if its size differs from the recorded one.
   *
   * @param reading what the caller reads: with `'whole'`, opening a small blob also reads it, which takes less time than
   * reading it later.
   */
  open(digest: Pick<Digest, 'sha256' | 'size'>, reading?: 'parts' | 'whole'): Promise<OpenFile | null>;
  /** Returns whether the blob exists with the recorded size. This counts as a use of a download. */
  has(digest: Pick<Digest, 'sha256' | 'size'>): Promise<boolean>;
  delete(sha256: string): Promise<void>;
  /**
   * Returns a URL that lets anyone read a blob directly from the store; null if the store has none, so that Lectern
   * must serve the bytes. Does not check whether the blob exists.
   */
  presignedUrl(sha256: string, options: PresignedUrlOptions): Promise<string | null>;
}

export interface StoredArchive extends OpenFile {
  /** The digest of the whole archive, lower-case hex: its strong ETag. */
  readonly sha256: string;
  /** As {@link BlobStore.presignedUrl}. */
  presignedUrl(options: PresignedUrlOptions): Promise<string | null>;
}

/** An unpublished archive; readers do not see it. */
export interface ArchiveDraft {
  /** Appends chunks. */
  write(chunks: readonly Uint8Array[]): Promise<void>;
  /** Makes the archive durable and visible under a key, atomically. Two drafts may publish under one key. */
  publish(key: string, sha256: string): Promise<void>;
  /** Discards an unpublished draft; does nothing after publish. */
  discard(): Promise<void>;
}

export interface ArchiveStore {
  open(key: string): Promise<StoredArchive | null>;
  /** Returns whether a key has an archive. The check does not count as a use. */
  has(key: string): Promise<boolean>;
  create(): Promise<ArchiveDraft>;
  /** Hides the archive of a key from new readers at once. A later sweep may free its space. */
  delete(key: string): Promise<void>;
}

/** A download or an archive, which Lectern can download or build again. */
export interface StoredCopy {
  name: string;
  /** Bytes. */
  size: number;
  /** The last use, up to {@link useResolutionMs} early. */
  usedAt: Date;
}

/** All downloads and archives, for eviction. */
export interface Copies {
  /** Lists all copies in pages, unordered. Concurrent changes may or may not be included. */
  list(): AsyncIterable<StoredCopy[]>;
  /** Removes a copy, unless it was used after a time. Returns whether this call removed it. */
  evict(copy: StoredCopy, unusedSince: Date): Promise<boolean>;
}

/** The last uses of the copies in a bucket, whose objects have no such time. */
export interface LastUses {
  /** Records that an object is used now. The caller looks for it afterward. */
  touch(name: string): Promise<void>;
  /** Returns the recorded last uses of objects, by name. */
  find(names: readonly string[]): Promise<Map<string, Date>>;
}

/** For a process that needs neither downloads nor archives. */
export const noLastUses: LastUses = {
  touch: () => Promise.resolve(),
  find: () => Promise.resolve(new Map()),
};

/** Reports that a store has no room for more copies. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull';
  /** As of the system's error for a full disk. */
  readonly code = 'ENOSPC';
}

/** A set of names, each an empty file. Names have letters, digits, dots, hyphens and underscores. */
export interface NameSet {
  add(name: string): Promise<void>;
  /** Lists all names in pages, unordered. */
  list(): AsyncIterable<string[]>;
}

export interface Store {
  /** Uploaded media and widget releases: kept while something refers to them. */
  readonly assets: BlobStore;
  /** Downloaded media: may be evicted at any time and are downloaded again. */
  readonly cache: BlobStore;
  readonly archives: ArchiveStore;
  readonly copies: Copies;
  /** The ledger of erasures: outside of MongoDB, because a restore of MongoDB must not undo it. */
  readonly erasures: NameSet;
  /** Names by which MongoDB recognizes the store. */
  readonly identity: NameSet;
  /**
   * Removes the remains of crashed writers: temporary files without a write for `olderThanSeconds`, which must be
   * longer than any build.
   *
   * @param signal aborts requests to a service.
   * @returns the number of removed files.
   */
  sweepTemporaries(olderThanSeconds: number, signal?: AbortSignal): Promise<number>;
  /**
   * Checks that the store is readable and writable. Returns its location, and its free and total bytes; null where they
   * are unknown.
   *
   * @throws with a message for operators.
   */
  check(): Promise<{ place: string; freeBytes: number | null; sizeBytes: number | null }>;
  /**
   * Makes a short check, for polling every few seconds.
   *
   * @throws with a message for operators when the store is unavailable.
   */
  ping(): Promise<void>;
}
