import { setMaxListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../platform/config.ts';
import { backoffMs } from '../../platform/backoff.ts';
import { ConcurrencyLimit } from '../../platform/concurrency-limit.ts';
import { Connections } from '../../platform/http/connections.ts';
import { attempt } from './attempt.ts';
import { DownloadError, isTransient, SlowDownload } from './failure.ts';
import type { Downloader } from './types.ts';

export { DownloadError } from './failure.ts';
export type { Downloader, DownloadRequest, DownloadResult } from './types.ts';

const maxAttemptsPerFile = 3;

/** A host that limits requests takes all of them in the end, because the delays double. */
const maxAttemptsUnderRateLimit = 6;

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
 * Creates a downloader. An organization has its own connections to each host, at most `concurrencyPerHost`, so no other
 * organization's downloads delay its own; requests beyond them wait. The caller applies `maxBytes`.
 *
 * @param perOrganization the maximum of an organization's concurrent downloads.
 */
export function createDownloader(
  settings: Config['download'],
  internals: DownloaderInternals = {},
  perOrganization = settings.concurrency,
): Downloader {
  const connections = new Connections(
    settings.allowedPrivateHosts,
    internals.lookup,
    settings.concurrencyPerHost,
  );
  const context = {
    connections,
    idleMs: settings.timeoutSeconds * 1000,
    minBytesPerSecond: settings.minBytesPerSecond,
  };
  const limit = new ConcurrencyLimit({ concurrent: perOrganization });
  const wait = internals.pause ?? pause;
  return {
    async download(request, store) {
      const { organizationId, signal } = request;
      // All files of a build share one signal, and each adds a listener for a while: this is no leak.
      setMaxListeners(0, signal);
      const budget = { leftMs: settings.deadlineSeconds * 1000 };
      for (let attempts = 1; ; attempts++) {
        try {
          return await limit.run(organizationId, signal, () =>
            attempt(request, store, { ...context, budget }),
          );
        } catch (error) {
          signal.throwIfAborted();
          if (!mayRetry(error, attempts)) throw error;
          const retryAfterMs = Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs);
          await wait(backoffMs(backoff, attempts - 1, { retryAfterMs }), signal);
        }
      }
    },
    close: () => connections.close(),
  };
}

function mayRetry(error: unknown, attempts: number): error is DownloadError {
  if (!(error instanceof DownloadError) || !isTransient(error) || error instanceof SlowDownload) return false;
  return attempts < (error.reason === 'rate_limited' ? maxAttemptsUnderRateLimit : maxAttemptsPerFile);
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
