import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { codeOf, LecternError } from '../../shared/platform/errors.ts';
import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import type { Downloader, DownloadRequest, DownloadResult } from '../../shared/media/downloads/downloader.ts';
import type { BuildObserver, BuildPhase, MediaLookup } from './build-observer.ts';

/** In seconds: from a lesson without media to one of many gigabytes. */
const buildBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** How a build ended. */
export type BuildOutcome = 'complete' | 'incomplete' | 'failed' | 'cancelled' | 'given_back' | 'lost';

/** The common reasons for failed builds. */
const failureReasons = ['store_full', 'deadline', 'invalid_content', 'not_found', 'internal_error'];

/** Prometheus metrics of one worker process. Labels have only values that the code names. */
export class WorkerMetrics implements BuildObserver {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  readonly #wait = new Histogram({
    name: 'lectern_export_wait_seconds',
    help: 'Time from the request for an export to the start of its build.',
    buckets: buildBuckets,
    registers: this.#registers,
  });
  readonly #phases = new Histogram({
    name: 'lectern_export_build_phase_seconds',
    help: 'Time of a build by phase: plan; files (lookups and downloads), which overlaps with write; publish.',
    labelNames: ['phase'],
    buckets: buildBuckets,
    registers: this.#registers,
  });
  readonly #builds = new Histogram({
    name: 'lectern_export_build_seconds',
    help: 'Time of whole builds, by outcome.',
    labelNames: ['outcome'],
    buckets: buildBuckets,
    registers: this.#registers,
  });
  readonly #failures = new Counter({
    name: 'lectern_export_build_failures_total',
    help: 'Failed builds, by reason; each retry counts.',
    labelNames: ['reason'],
    registers: this.#registers,
  });
  readonly #archiveBytes = new Counter({
    name: 'lectern_export_archive_bytes_total',
    help: 'Bytes of built archives.',
    registers: this.#registers,
  });
  readonly #takenOver = new Counter({
    name: 'lectern_export_builds_taken_over_total',
    help: 'Builds that went back to the queue because their worker stopped responding.',
    registers: this.#registers,
  });
  readonly #slots = new Gauge({
    name: 'lectern_worker_slots',
    help: 'Concurrent builds of this process; one more runs while an organization without a build here waits.',
    registers: this.#registers,
  });
  readonly #downloads = new Counter({
    name: 'lectern_downloads_total',
    help: 'Downloads of external media, by outcome: downloaded, unchanged, or the reason of the failure.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #downloadBytes = new Counter({
    name: 'lectern_download_bytes_total',
    help: 'Bytes received from origins, including failed attempts.',
    registers: this.#registers,
  });
  readonly #lookups = new Counter({
    name: 'lectern_media_cache_lookups_total',
    help: 'Lookups of external media: hit if the file was in the cache and still valid, otherwise miss.',
    labelNames: ['result'],
    registers: this.#registers,
  });
  readonly #evictedFiles = new Counter({
    name: 'lectern_store_evicted_files_total',
    help: 'Archives and cached media that were evicted.',
    registers: this.#registers,
  });
  readonly #evictedBytes = new Counter({
    name: 'lectern_store_evicted_bytes_total',
    help: 'Bytes that eviction freed.',
    registers: this.#registers,
  });

  /** @param worker.running returns the number of running builds at each scrape. */
  constructor(worker: { slots: number; running: () => number }) {
    this.#slots.set(worker.slots);
    // Alerts need a series that exists before its first failure.
    for (const reason of failureReasons) this.#failures.inc({ reason }, 0);
    new Gauge({
      name: 'lectern_export_builds_running',
      help: 'Running builds of this process.',
      registers: this.#registers,
      collect() {
        this.set(worker.running());
      },
    });
  }

  waited(seconds: number): void {
    this.#wait.observe(seconds);
  }

  /** @param bytes the size of the built archive; 0 for none. */
  built(outcome: BuildOutcome, seconds: number, bytes = 0): void {
    this.#builds.observe({ outcome }, seconds);
    this.#archiveBytes.inc(bytes);
  }

  phase(phase: BuildPhase, seconds: number): void {
    this.#phases.observe({ phase }, seconds);
  }

  failed(error: unknown): void {
    this.#failures.inc({ reason: reasonOf(error) });
  }

  takenOver(): void {
    this.#takenOver.inc();
  }

  lookedUp(result: MediaLookup): void {
    this.#lookups.inc({ result });
  }

  evicted({ files, bytes }: { files: number; bytes: number }): void {
    this.#evictedFiles.inc(files);
    this.#evictedBytes.inc(bytes);
  }

  /** Returns the same downloader, with its downloads counted. */
  countDownloads(downloader: Downloader): Downloader {
    const download = async <T>(
      request: DownloadRequest,
      store: (body: AsyncIterable<Uint8Array>) => Promise<T>,
    ): Promise<DownloadResult<T>> => {
      try {
        const onBytes = (count: number) => {
          this.#downloadBytes.inc(count);
          request.onBytes?.(count);
        };
        const result = await downloader.download({ ...request, onBytes }, store);
        this.#downloads.inc({ outcome: result.modified ? 'downloaded' : 'unchanged' });
        return result;
      } catch (error) {
        this.#downloads.inc({ outcome: error instanceof DownloadError ? error.reason : 'stopped' });
        throw error;
      }
    };
    return { download, close: () => downloader.close() };
  }
}

/** Returns the label of an error: an error code of Lectern, a full disk, a timeout, or an internal error. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (codeOf(cause) === 'ENOSPC' || codeOf(cause) === 'EDQUOT') return 'store_full';
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'deadline';
  if (error instanceof LecternError) return error.code.toLowerCase();
  return 'internal_error';
}
