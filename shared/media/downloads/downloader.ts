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

/** How often a file is tried before it counts as failed. */
const maxTries = 3;

const backoff = { firstMs: 500 };
const longestRetryAfterMs = 60_000;

/** What a test replaces. */
export interface DownloaderInternals {
  /** Resolves host names, as node:dns does. */
  lookup?: LookupFunction;
  /** Waits between two tries, in milliseconds. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Creates a downloader. Its downloads share kept connections and fair slots ({@link DownloadSlots}): at most
 * `concurrencyPerHost` requests to a host are under way at once. The caller applies `concurrency` and `maxBytes`.
 *
 * @param pool limits on the requests to all hosts together; none unless given.
 */
export function createDownloader(
  settings: Config['download'],
  internals: DownloaderInternals = {},
  pool: Omit<SlotLimits, 'perHost'> = {},
): Downloader {
  const connections = new Connections(settings.allowedPrivateHosts, internals.lookup);
  const context = {
    connections,
    slots: new DownloadSlots({ ...pool, perHost: settings.concurrencyPerHost }),
    idleMs: settings.timeoutSeconds * 1000,
    minBytesPerSecond: settings.minBytesPerSecond,
  };
  const wait = internals.pause ?? pause;
  return {
    async download(request, store) {
      // One signal serves all files of a build, and each listens to it for a while: that is no leak.
      setMaxListeners(0, request.signal);
      const budget = { leftMs: settings.deadlineSeconds * 1000 };
      for (let tries = 1; ; tries++) {
        try {
          return await attempt(request, store, { ...context, budget, again: tries > 1 });
        } catch (error) {
          request.signal.throwIfAborted();
          if (tries === maxTries || !mayRetry(error)) throw error;
          const retryAfterMs = Math.min(error.retryAfterMs ?? 0, longestRetryAfterMs);
          await wait(backoffMs(backoff, tries - 1, { retryAfterMs }), request.signal);
        }
      }
    },
    close: () => connections.close(),
  };
}

function mayRetry(error: unknown): error is DownloadError {
  return error instanceof DownloadError && isTransient(error) && !(error instanceof SlowDownload);
}

/** Waits, or fails with the signal's reason as soon as it is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
