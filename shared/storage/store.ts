/**
 * What Lectern keeps as files: media and widget bundles (blobs, found by their digest) and built archives (found by
 * their export key). One interface; shared/storage/disk-store.ts implements it on a folder.
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

/** A stored file, opened: it stays readable until closed, even when it is deleted meanwhile. */
export interface OpenFile {
  readonly size: number;
  /** The bytes from `start` up to but not including `end`. A file that turns out shorter than `size` is an error. */
  chunks(start?: number, end?: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
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
  /** Whether there is such a blob, of the recorded size. */
  has(digest: Pick<Digest, 'sha256' | 'size'>): Promise<boolean>;
  delete(sha256: string): Promise<void>;
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
  /** Makes the archive durable and visible under a key, at once or not at all. May happen twice without harm. */
  publish(key: string, sha256: string): Promise<void>;
  /** Gives up a draft that was not published; does nothing after publish. */
  discard(): Promise<void>;
}

export interface ArchiveStore {
  open(key: string): Promise<StoredArchive | null>;
  create(): Promise<ArchiveDraft>;
  delete(key: string): Promise<void>;
}

export interface Store {
  /** Uploaded media and widget releases: kept as long as something refers to them. */
  readonly assets: BlobStore;
  /** Downloaded media: may go at any time, and is downloaded again. */
  readonly cache: BlobStore;
  readonly archives: ArchiveStore;
  /** Removes what crashed writers left behind: temporary files that nobody wrote to for `olderThanSeconds`. */
  sweepTemporaries(olderThanSeconds: number): Promise<number>;
  /** Fails with a message for an operator when the store cannot be written to. */
  check(): Promise<{ freeBytes: number }>;
}
