/**
 * What Lectern keeps as files: media and widget bundles (blobs, found by their digest) and built archives (found by
 * their export key). One interface, two implementations: a folder, and a bucket of an S3-compatible service.
 */

/** The digests of some bytes, as Lectern computed them itself. */
export interface Digest {
  /** Lower-case hex. */
  sha256: string;
  /** As ZIP wants it: an unsigned 32-bit number. */
  crc32: number;
  /** Bytes. */
  size: number;
}

/**
 * A stored file, opened. On a folder it stays readable until closed, even when it is deleted meanwhile; in a bucket an
 * archive does for an hour and more, while a blob that is deleted then fails its reader. Neither gives other bytes.
 */
export interface OpenFile {
  readonly size: number;
  /** The bytes from `start` up to but not including `end`. A file that turns out shorter than `size` is an error. */
  chunks(start?: number, end?: number): AsyncIterable<Uint8Array>;
  /**
   * The same bytes for who keeps none of them: `write` gets one chunk after the other, each when the one before it has
   * resolved. Then its memory may be used again.
   */
  send(write: (chunk: Uint8Array) => Promise<void>, start?: number, end?: number): Promise<void>;
  close(): Promise<void>;
}

/** A blob, as a listing has it. */
export interface ListedBlob {
  sha256: string;
  /** Bytes. */
  size: number;
  /** When it was written last. */
  storedAt: Date;
}

/** What a reader at an address gets besides the bytes. */
export interface PresignedUrlOptions {
  /** For how long the address is good, in seconds: 7 days at most. */
  seconds: number;
  /** The Content-Type of the answer. */
  contentType: string;
}

export interface BlobStore {
  /**
   * Stores bytes under their SHA-256. `created` is false when they were there already.
   * When the source fails nothing is stored and the source's error is thrown.
   *
   * @param announce is told the digests before the blob is there, so that whoever must find it again can note it
   * first. When it fails nothing is stored and its error is thrown.
   */
  put(
    source: AsyncIterable<Uint8Array>,
    announce?: (digest: Digest) => Promise<void>,
  ): Promise<Digest & { created: boolean }>;
  /** Null when there is no such blob, or when it has not the size that was recorded for it. */
  open(digest: Pick<Digest, 'sha256' | 'size'>): Promise<OpenFile | null>;
  /**
   * Returns whether there is such a blob, of the recorded size. With `'glance'` the look does not count as a use, so the
   * caller has to pin the file before it relies on it.
   */
  has(digest: Pick<Digest, 'sha256' | 'size'>, look?: 'use' | 'glance'): Promise<boolean>;
  delete(sha256: string): Promise<void>;
  /** All blobs, a page of 1,000 at most at a time, in no order. What comes or goes meanwhile may be among them or not. */
  list(): AsyncIterable<ListedBlob[]>;
  /**
   * An address at which anybody can read a blob straight from the store, without Lectern; null where the store gives
   * none, and Lectern has to serve the bytes. Whether the blob is there is not looked at.
   */
  presignedUrl(sha256: string, options: PresignedUrlOptions): Promise<string | null>;
}

export interface StoredArchive extends OpenFile {
  /** Of the whole archive, lower-case hex: its strong ETag. */
  readonly sha256: string;
  readonly storedAt: Date;
}

/** An archive while it is written: invisible until published. */
export interface ArchiveDraft {
  /** The chunks, one after the other. */
  write(chunks: readonly Uint8Array[]): Promise<void>;
  /** Makes the archive durable and visible under a key, at once or not at all. Two drafts may publish under one key. */
  publish(key: string, sha256: string): Promise<void>;
  /** Gives up a draft that was not published; does nothing after publish. */
  discard(): Promise<void>;
}

/** An archive, as a listing has it. */
export interface ListedArchive {
  key: string;
  /** Of the whole archive, lower-case hex. */
  sha256: string;
  /** Bytes. */
  size: number;
  storedAt: Date;
}

export interface ArchiveStore {
  open(key: string): Promise<StoredArchive | null>;
  create(): Promise<ArchiveDraft>;
  /** Makes the archive under a key invisible at once. Its room may be free only after the next sweeps. */
  delete(key: string): Promise<void>;
  /**
   * All archives, a page of 1,000 at most at a time, in no order; a key may come more than once. What comes or goes
   * meanwhile may be among them or not.
   */
  list(): AsyncIterable<ListedArchive[]>;
}

export interface Store {
  /** Uploaded media and widget releases: kept as long as something refers to them. */
  readonly assets: BlobStore;
  /** Downloaded media: may go at any time, and is downloaded again. */
  readonly cache: BlobStore;
  readonly archives: ArchiveStore;
  /**
   * Removes what crashed writers left behind: temporary files that nobody wrote to for `olderThanSeconds`, which has
   * to be longer than any build. Gives how many.
   *
   * @param signal ends it before its time, where it asks a service.
   */
  sweepTemporaries(olderThanSeconds: number, signal?: AbortSignal): Promise<number>;
  /**
   * Fails with a message for an operator when the store cannot be written to or read. Else tells where it is, and how
   * many bytes are free, of how many; null where that is not known.
   */
  check(): Promise<{ place: string; freeBytes: number | null; sizeBytes: number | null }>;
  /** The short form, for looks every few seconds: fails, with a message for an operator, when the store is away. */
  ping(): Promise<void>;
}
