import { hostOf } from '../../shared/platform/http/ssrf-guard.ts';
import { onAbort } from '../../shared/platform/abort-listeners.ts';
import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import { FileUnavailable } from './file-outcomes.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

/** The number of consecutive timeouts after which a build stops sending requests to a host. */
const maxTimeouts = 6;

/** The share of a build's time for its downloads; the rest is for writing the files that arrived. */
const downloadShare = 0.75;

/**
 * Limits the time that slow hosts cost a build: a time limit for all downloads, and a circuit breaker for each host.
 * Files that do not arrive in time are missing with the reason `timeout`, and the build continues.
 */
export class SlowHosts {
  readonly #stop = new AbortController();
  readonly #late = new FileUnavailable('timeout');
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** Timeouts of each host since its last successful download. */
  readonly #timeouts = new Map<string, number>();

  /**
   * @param ending aborted when the build ends.
   * @param buildMs the time limit of the whole build.
   */
  constructor(ending: AbortSignal, buildMs: number) {
    this.#stopListening = onAbort(ending, () => this.#stop.abort(ending.reason));
    this.#timer = setTimeout(() => this.#stop.abort(this.#late), buildMs * downloadShare);
  }

  /**
   * Downloads a file, unless no time is left or its host timed out too often.
   *
   * @throws {FileUnavailable} `timeout` in these cases; the error of the download; the reason why the build ended.
   */
  async get<T>(
    url: string,
    download: (limits: { signal: AbortSignal; beforeRequest: () => void }) => Promise<T>,
  ): Promise<T> {
    this.#stop.signal.throwIfAborted();
    const parsed = parseUrl(url);
    const host = parsed === null ? '' : hostOf(parsed);
    // Also called for downloads that have waited while others timed out.
    const beforeRequest = () => {
      if ((this.#timeouts.get(host) ?? 0) >= maxTimeouts) throw this.#late;
    };
    beforeRequest();
    try {
      const downloaded = await download({ signal: this.#stop.signal, beforeRequest });
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
