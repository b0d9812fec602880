import type { ProxyLink } from './proxy-links.ts';

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
  /**
   * Returns a link to the file for a proxy, which can open it for at least 90 seconds. In a folder, the link works even
   * if the file is deleted. Null if the file is deleted already, or if its bytes are in memory.
   */
  linkForProxy(): Promise<ProxyLink | null>;
  close(): Promise<void>;
}

/** A blob in a listing. */
export interface ListedBlob {
  sha256: string;
  /** Bytes. */
  size: number;
  /** The time of the last write. */
  storedAt: Date;
}

/** Options of a presigned URL. */
export interface PresignedUrlOptions {
  /** The lifetime of the URL in seconds, at most 7 days. */
  seconds: number;
  /** The Content-Type of the response. */
  contentType: string;
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
  /**
   * Returns whether the blob exists with the recorded size. With `'peek'` the check does not count as a use, so the
   * caller must pin the file before relying on it.
   */
  has(digest: Pick<Digest, 'sha256' | 'size'>, access?: 'use' | 'peek'): Promise<boolean>;
  delete(sha256: string): Promise<void>;
  /** Lists all blobs in pages of at most 1,000, unordered. Concurrent changes may or may not be included. */
  list(): AsyncIterable<ListedBlob[]>;
  /**
   * Returns a URL that lets anyone read a blob directly from the store; null if the store has none, so that Lectern
   * must serve the bytes. Does not check whether the blob exists.
   */
  presignedUrl(sha256: string, options: PresignedUrlOptions): Promise<string | null>;
}

export interface StoredArchive extends OpenFile {
  /** The digest of the whole archive, lower-case hex: its strong ETag. */
  readonly sha256: string;
  readonly storedAt: Date;
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

/** An archive in a listing. */
export interface ListedArchive {
  key: string;
  /** The digest of the whole archive, in lower-case hex. */
  sha256: string;
  /** Bytes. */
  size: number;
  storedAt: Date;
}

export interface ArchiveStore {
  open(key: string): Promise<StoredArchive | null>;
  /** Returns whether a key has an archive. The check does not count as a use. */
  has(key: string): Promise<boolean>;
  create(): Promise<ArchiveDraft>;
  /** Hides the archive of a key from new readers at once. A later sweep may free its space. */
  delete(key: string): Promise<void>;
  /**
   * Lists all archives in pages of at most 1,000, unordered; a key may appear more than once. Concurrent changes may or
   * may not be included.
   */
  list(): AsyncIterable<ListedArchive[]>;
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
