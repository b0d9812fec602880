export interface DownloadRequest {
  url: string;
  /** Whose share of the slots the download takes. */
  organizationId: string;
  /** What the lesson says the file is; a file that is plainly something else is refused. */
  mimeType: string;
  maxBytes: number;
  /** From an earlier download of this URL: allows the answer "not modified". */
  validators?: { etag?: string; lastModified?: string };
  signal: AbortSignal;
  /** Called with the number of bytes that just came. Bytes of a try that fails were counted all the same. */
  onBytes?: (count: number) => void;
}

export type DownloadResult<T> =
  | {
      modified: true;
      stored: T;
      /** The declared type, or another one of its family where the first bytes show that. */
      mimeType: string;
      /** Validators are given only when the URL's own host sent the file: no other host will be shown them. */
      etag?: string;
      lastModified?: string;
    }
  | { modified: false };

export interface Downloader {
  /**
   * Fetches a foreign file and has it stored. `store` is called anew for each try; it must read the body to its end
   * and keep nothing when the body fails.
   *
   * The body of a server that compresses although it was asked not to is unpacked when it is gzip, within the same
   * limit of bytes, and refused as `bad_type` in any other encoding.
   *
   * @throws {DownloadError} (failure.ts) when the file cannot be had; the signal's reason when it is aborted, at once;
   *   and what `store` throws by itself.
   */
  download<T>(
    request: DownloadRequest,
    store: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<DownloadResult<T>>;
  /** Closes all connections; for when no download is under way. */
  close(): void;
}
