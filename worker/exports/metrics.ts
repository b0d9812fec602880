import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { codeOf, LecternError } from '../../shared/platform/errors.ts';
import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import type { Downloader, DownloadRequest, DownloadResult } from '../../shared/media/downloads/downloader.ts';
import type { BuildObserver, BuildPhase, MediaLookup } from './build-observer.ts';

/** From a lesson without media to one of many gigabytes. */
const buildBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** What became of a build. */
export type BuildOutcome =
  'complete' | 'incomplete' | 'failed' | 'cancelled' | 'given_back' | 'gave_way' | 'lost';

/** What stops builds, but for rarer codes of errors. */
const failureReasons = ['store_full', 'deadline', 'invalid_content', 'not_found', 'internal_error'];

/** What one worker process has done, for Prometheus. No label has more values than the code names. */
export class WorkerMetrics implements BuildObserver {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  readonly #wait = new Histogram({
    name: 'lectern_export_wait_seconds',
    help: 'From the time an export was asked for to the first start of its build.',
    buckets: buildBuckets,
    registers: this.#registers,
  });
  readonly #phases = new Histogram({
    name: 'lectern_export_build_phase_seconds',
    help: 'Time of a build by phase: plan; files (finding and downloading) and write at once; publish.',
    labelNames: ['phase'],
    buckets: buildBuckets,
    registers: this.#registers,
  });
  readonly #builds = new Histogram({
    name: 'lectern_export_build_seconds',
    help: 'Time of whole builds, by what became of them.',
    labelNames: ['outcome'],
    buckets: buildBuckets,
    registers: this.#registers,
  });
  readonly #failures = new Counter({
    name: 'lectern_export_build_failures_total',
    help: 'Builds that failed, by reason; one that is tried again counts each time.',
    labelNames: ['reason'],
    registers: this.#registers,
  });
  readonly #archiveBytes = new Counter({
    name: 'lectern_export_archive_bytes_total',
    help: 'Bytes of the archives that were built.',
    registers: this.#registers,
  });
  readonly #takenOver = new Counter({
    name: 'lectern_export_builds_taken_over_total',
    help: 'Builds whose worker showed no sign of life, and that were put back into the queue for that.',
    registers: this.#registers,
  });
  readonly #slots = new Gauge({
    name: 'lectern_worker_slots',
    help: 'Builds that this process makes at once, at most.',
    registers: this.#registers,
  });
  readonly #downloads = new Counter({
    name: 'lectern_downloads_total',
    help: 'Requests for external media, by outcome: downloaded, unchanged, or the reason of the failure.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #downloadBytes = new Counter({
    name: 'lectern_download_bytes_total',
    help: 'Bytes that came from origins, those of failed tries included.',
    registers: this.#registers,
  });
  readonly #lookups = new Counter({
    name: 'lectern_media_cache_lookups_total',
    help: 'External media of builds: hit where the file was in the cache and still good, else miss.',
    labelNames: ['result'],
    registers: this.#registers,
  });
  readonly #evictedFiles = new Counter({
    name: 'lectern_store_evicted_files_total',
    help: 'Archives and cached media that were deleted for age or room.',
    registers: this.#registers,
  });
  readonly #evictedBytes = new Counter({
    name: 'lectern_store_evicted_bytes_total',
    help: 'Bytes that were freed by this.',
    registers: this.#registers,
  });

  /** @param worker.running how many builds are under way, asked when the figures are. */
  constructor(worker: { slots: number; running: () => number }) {
    this.#slots.set(worker.slots);
    // A series that is born with its first failure has no increase that an alert could see.
    for (const reason of failureReasons) this.#failures.inc({ reason }, 0);
    new Gauge({
      name: 'lectern_export_builds_running',
      help: 'Builds that are under way in this process.',
      registers: this.#registers,
      collect() {
        this.set(worker.running());
      },
    });
  }

  waited(seconds: number): void {
    this.#wait.observe(seconds);
  }

  /** @param bytes of the archive that was built; 0 for none. */
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

  /** The same downloader, whose downloads are counted. */
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

/** A few names for all that fails: codes of ours, full disks, deadlines, and the rest. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (codeOf(cause) === 'ENOSPC' || codeOf(cause) === 'EDQUOT') return 'store_full';
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'deadline';
  if (error instanceof LecternError) return error.code.toLowerCase();
  return 'internal_error';
}
