export interface DownloadRequest {
  url: string;
  /** The organization whose connections the download uses. */
  organizationId: string;
  /** The type that the lesson declares; a file of a clearly different type is rejected. */
  mimeType: string;
  maxBytes: number;
  /** From an earlier download of this URL, so that the server can return "not modified". */
  validators?: { etag?: string; lastModified?: string };
  signal: AbortSignal;
  /** Called before each request, and again after a wait for a connection. An error that it throws ends the download. */
  beforeRequest?: () => void;
  /** Called with the number of received bytes, including those of failed attempts. */
  onBytes?: (count: number) => void;
}

export type DownloadResult<T> =
  | {
      modified: true;
      stored: T;
      /** The declared type, or another type of its family that the first bytes show. */
      mimeType: string;
      /** Set only when the URL's own host sent the file, because validators are never sent to another host. */
      etag?: string;
      lastModified?: string;
    }
  | { modified: false };

export interface Downloader {
  /**
   * Fetches a foreign file and stores it. Each attempt calls `store`, which must read the whole body and keep nothing
   * when the body fails.
   *
   * A body that a server compresses despite `Accept-Encoding: identity` is decompressed if it is gzip, within the same
   * byte limit. Other encodings fail as `bad_type`.
   *
   * @throws {DownloadError} (failure.ts) when the download fails; the signal's reason when it is aborted; errors of
   * `store`.
   */
  download<T>(
    request: DownloadRequest,
    store: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<DownloadResult<T>>;
  /** Closes all connections. Call it when no download is running. */
  close(): void;
}
