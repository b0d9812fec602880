import { setMaxListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../platform/config.ts';
import { backoffMs } from '../../platform/backoff.ts';
import { Connections } from '../../platform/http/connections.ts';
import { attempt } from './attempt.ts';
import { DownloadError, isTransient, SlowDownload } from './failure.ts';
import { DownloadSlots } from './slots.ts';
import type { SlotLimits } from './slots.ts';
import type { Downloader } from './types.ts';

export { DownloadError } from './failure.ts';
export type { Downloader, DownloadRequest, DownloadResult } from './types.ts';

const maxAttemptsPerFile = 3;

const backoff = { firstMs: 500 };
const maxRetryAfterMs = 60_000;

/** Parts that tests replace. */
export interface DownloaderInternals {
  /** Resolves host names like node:dns. */
  lookup?: LookupFunction;
  /** Waits between two attempts. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Creates a downloader. Its downloads share keep-alive connections and fair slots ({@link DownloadSlots}), with at most
 * `concurrencyPerHost` concurrent requests per host, or `streamsPerHost` over HTTP/2. The caller applies `concurrency`
 * and `maxBytes`.
 *
 * @param pool limits of the requests to all hosts together; none by default.
 */
export function createDownloader(
  settings: Config['download'],
  internals: DownloaderInternals = {},
  pool: Pick<SlotLimits, 'perOrganization' | 'total'> = {},
): Downloader {
  const { allowedPrivateHosts, concurrencyPerHost: perHost } = settings;
  const connections = new Connections(allowedPrivateHosts, internals.lookup, perHost);
  const perSharedConnection = (host: string) => {
    const accepted = connections.streamsOf(host);
    return accepted === null ? null : Math.min(accepted, settings.streamsPerHost);
  };
  const context = {
    connections,
    slots: new DownloadSlots({ ...pool, perHost, perSharedConnection }),
    idleMs: settings.timeoutSeconds * 1000,
    minBytesPerSecond: settings.minBytesPerSecond,
  };
  const wait = internals.pause ?? pause;
  return {
    async download(request, store) {
      // All files of a build share one signal, and each adds a listener for a while: this is no leak.
      setMaxListeners(0, request.signal);
      const budget = { leftMs: settings.deadlineSeconds * 1000 };
      for (let attempts = 1; ; attempts++) {
        try {
          return await attempt(request, store, { ...context, budget, isRetry: attempts > 1 });
        } catch (error) {
          request.signal.throwIfAborted();
          if (attempts === maxAttemptsPerFile || !mayRetry(error)) throw error;
          const retryAfterMs = Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs);
          await wait(backoffMs(backoff, attempts - 1, { retryAfterMs }), request.signal);
        }
      }
    },
    close: () => connections.close(),
  };
}

function mayRetry(error: unknown): error is DownloadError {
  return error instanceof DownloadError && isTransient(error) && !(error instanceof SlowDownload);
}

/** Waits; throws the signal's reason when it is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}

/** Runs work with a new downloader, and closes the connections afterward. */
export async function withDownloader<T>(
  { download }: Pick<Config, 'download'>,
  run: (downloader: Downloader) => Promise<T>,
): Promise<T> {
  const downloader = createDownloader(download);
  try {
    return await run(downloader);
  } finally {
    downloader.close();
  }
}
