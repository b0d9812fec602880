import type { LookupFunction } from 'node:net';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { Config } from '../../../shared/platform/config.ts';
import { createDownloader, DownloadError } from '../../../shared/media/downloads/downloader.ts';
import type {
  Downloader,
  DownloaderInternals,
  DownloadRequest,
} from '../../../shared/media/downloads/downloader.ts';
import { startOrigin } from '../../support/origin.ts';
import type { Origin } from '../../support/origin.ts';

export const text = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'.repeat(40));
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** The timeout: short, yet long against the hiccups of a busy machine. */
export const idleSeconds = 0.3;

/** Created for each test of a file. */
export interface DownloadLab {
  origin: Origin;
  /** What `get` asks; tests may put another in its place. */
  downloader: Downloader;
  /** What the downloader would have waited between its tries, in milliseconds. */
  pauses: number[];
}

/**
 * An origin and a downloader for each test of a file. Call it at the top of the file.
 *
 * @returns also `make`, which makes a downloader of other settings; and `get`, which downloads a file of the origin
 * into memory, unless `store` does something else with it.
 */
export function useDownloads() {
  const lab = {} as DownloadLab;

  function make(internals: DownloaderInternals = {}, settings: Partial<Config['download']> = {}): Downloader {
    return createDownloader(
      {
        maxBytes: 1,
        concurrency: 1,
        concurrencyPerHost: 6,
        timeoutSeconds: idleSeconds,
        minBytesPerSecond: 0,
        deadlineSeconds: 60,
        allowedPrivateHosts: [lab.origin.host],
        ...settings,
      },
      {
        pause: (ms) => {
          lab.pauses.push(ms);
          return Promise.resolve();
        },
        ...internals,
      },
    );
  }

  beforeEach(async () => {
    lab.origin = await startOrigin();
    lab.pauses = [];
    lab.downloader = make();
  });
  afterEach(async () => {
    lab.downloader.close();
    await lab.origin.close();
  });

  const get = (path: string, request: Partial<DownloadRequest> = {}, store = collect) =>
    lab.downloader.download(
      {
        url: lab.origin.url(path),
        organizationId: 'a',
        mimeType: 'text/vtt',
        maxBytes: 1024 ** 2,
        signal: new AbortController().signal,
        ...request,
      },
      store,
    );

  return { lab, make, get };
}

/** A store in memory, as blobs.put is on disk. */
export async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Waits for what other ends of connections have yet to notice. */
export const eventually = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 5000 });

/** A name server that knows one address for every name. */
export const resolveTo =
  (address: string): LookupFunction =>
  (_name, options, callback) => {
    if (options.all === true) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };

/** What a download that has to fail throws. */
export const failureOf = (download: Promise<unknown>): Promise<DownloadError> =>
  download.then(
    () => expect.unreachable('the download succeeded'),
    (error: unknown) => {
      if (!(error instanceof DownloadError)) throw error;
      return error;
    },
  );
