import { setMaxListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import type { Config } from '../../../shared/config.ts';
import { attempt } from './attempt.ts';
import { Connections } from './connections.ts';
import { DownloadError, isPassing } from './failure.ts';
import { HostLimiter } from './host-limiter.ts';
import { maxTries, pause, pauseAfter } from './retry.ts';

export { DownloadError } from './failure.ts';

export interface DownloadRequest {
  url: string;
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
      /** What the server calls the file, else what its first bytes show, else null. */
      mimeType: string | null;
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
   * @throws {DownloadError} when the file cannot be had; the signal's reason when it is aborted, at once; and what
   *   `store` throws by itself.
   */
  download<T>(
    request: DownloadRequest,
    store: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<DownloadResult<T>>;
  /** Closes all connections; for when no download is under way. */
  close(): void;
}

/** What a test replaces. */
export interface DownloaderInternals {
  /** Resolves host names, as node:dns does. */
  lookup?: LookupFunction;
  /** Waits between two tries, in milliseconds. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Makes a downloader: connections are kept and shared among its downloads, and at most `concurrencyPerHost` requests
 * to a host are under way at once. (`concurrency` and `maxBytes` are for whoever calls it.)
 */
export function createDownloader(
  settings: Config['download'],
  internals: DownloaderInternals = {},
): Downloader {
  const connections = new Connections(settings.allowedPrivateHosts, internals.lookup);
  const context = {
    connections,
    limiter: new HostLimiter(settings.concurrencyPerHost),
    idleMs: settings.timeoutSeconds * 1000,
  };
  const wait = internals.pause ?? pause;
  return {
    async download(request, store) {
      // One signal serves all files of a build, and each listens to it for a while: that is no leak.
      setMaxListeners(0, request.signal);
      for (let tries = 1; ; tries++) {
        try {
          return await attempt(request, store, { ...context, again: tries > 1 });
        } catch (error) {
          request.signal.throwIfAborted();
          if (tries === maxTries || !(error instanceof DownloadError) || !isPassing(error)) throw error;
          await wait(pauseAfter(tries, error.retryAfterMs), request.signal);
        }
      }
    },
    close: () => connections.close(),
  };
}
