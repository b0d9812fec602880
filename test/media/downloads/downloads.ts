import type { LookupFunction } from 'node:net';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { createDownloader, DownloadError } from '../../../shared/media/downloads/downloader.ts';
import type {
  Downloader,
  DownloaderInternals,
  DownloadRequest,
} from '../../../shared/media/downloads/downloader.ts';
import type { Config } from '../../../shared/platform/config.ts';
import { startOrigin } from '../../support/origin.ts';
import type { Origin } from '../../support/origin.ts';

export const text = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'.repeat(40));
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** An idle timeout that a test waits for. Others get one that no busy machine reaches. */
export const idleSeconds = 0.3;

export interface DownloadLab {
  origin: Origin;
  /** The downloader of `get`, which tests may replace. */
  downloader: Downloader;
  /** The delays between attempts, in milliseconds, which no test waits for. */
  pauses: number[];
}

interface LabInternals extends Omit<DownloaderInternals, 'pause'> {
  pause?: NonNullable<DownloaderInternals['pause']> | 'real';
}

/**
 * Starts an origin and a downloader for each test of a file.
 *
 * @returns also `make`, which creates a downloader with other settings, and `get`, which downloads a file of the origin
 * into memory or into `store`.
 */
export function useDownloads() {
  const lab = {} as DownloadLab;

  function make(internals: LabInternals = {}, settings: Partial<Config['download']> = {}): Downloader {
    const defaults = {
      maxBytes: 1,
      concurrency: 64,
      concurrencyPerHost: 6,
      timeoutSeconds: 60,
      minBytesPerSecond: 0,
      deadlineSeconds: 60,
      allowedPrivateHosts: [lab.origin.host],
    };
    const skip = (ms: number) => Promise.resolve(void lab.pauses.push(ms));
    const { pause = skip, ...others } = internals;
    return createDownloader({ ...defaults, ...settings }, pause === 'real' ? others : { ...others, pause });
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
        mimeType: 'text/plain',
        maxBytes: 1024 ** 2,
        signal: new AbortController().signal,
        ...request,
      },
      store,
    );

  return { lab, make, get };
}

/** A store in memory. */
export async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Waits until the other end of a connection has noticed a change. */
export const eventually = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 20_000 });

/** A DNS lookup that returns one IP address for every name. */
export const resolveTo =
  (address: string): LookupFunction =>
  (_name, options, callback) => {
    if (options.all === true) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };

/** Returns the error of a download that has to fail. */
export const failureOf = (download: Promise<unknown>): Promise<DownloadError> =>
  download.then(
    () => expect.unreachable('the download succeeded'),
    (error: unknown) => {
      if (!(error instanceof DownloadError)) throw error;
      return error;
    },
  );
