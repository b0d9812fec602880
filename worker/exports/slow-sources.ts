import { hostOf } from '../../shared/platform/http/ssrf-guard.ts';
import { onAbort } from '../../shared/platform/abort-listeners.ts';
import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import { MissingFile } from './outcome.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

/** Timeouts in a row after which a build asks a host for nothing more. */
const maxTimeouts = 6;

/** The share of a build's time that its downloads may take; the rest is for writing what came. */
const downloadShare = 0.75;

/**
 * Bounds what slow sources take of one build, whose slot others wait for. Files that are not there in time are missing
 * with the reason `timeout`, and the build goes on without them.
 */
export class SlowSources {
  readonly #stop = new AbortController();
  readonly #late = new MissingFile('timeout');
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** Timeouts since a host last sent a file, by host. */
  readonly #timeouts = new Map<string, number>();

  /**
   * @param ending ends the build.
   * @param buildMs how long the whole build may take.
   */
  constructor(ending: AbortSignal, buildMs: number) {
    this.#stopListening = onAbort(ending, () => this.#stop.abort(ending.reason));
    this.#timer = setTimeout(() => this.#stop.abort(this.#late), buildMs * downloadShare);
  }

  /**
   * Downloads a file, unless there is no time left, or its host timed out too often.
   *
   * @throws {MissingFile} `timeout` then; what the download throws; the reason for which the build ended.
   */
  async get<T>(url: string, download: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#stop.signal.throwIfAborted();
    const parsed = parseUrl(url);
    const host = parsed === null ? '' : hostOf(parsed);
    const timeouts = this.#timeouts.get(host) ?? 0;
    if (timeouts >= maxTimeouts) throw this.#late;
    try {
      const downloaded = await download(this.#stop.signal);
      this.#timeouts.delete(host);
      return downloaded;
    } catch (error) {
      if (error instanceof DownloadError && error.reason === 'timeout') this.#count(host);
      throw error;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#stopListening();
  }

  #count(host: string): void {
    this.#timeouts.set(host, (this.#timeouts.get(host) ?? 0) + 1);
  }
}
