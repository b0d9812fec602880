import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import type { FailureReason } from '../../shared/media/downloads/failure.ts';
import type { Digest, OpenFile, Store } from '../../shared/storage/store.ts';

/** A file of the archive that is in the store. */
export interface ResolvedFile extends Digest {
  area: 'assets' | 'cache';
  /** The real type of an external media file; null if it is the declared one. */
  mimeType?: string | null;
}

/** The reason why a file is missing from the archive. */
export interface FileFailure {
  reason: FailureReason;
  /** The HTTP status of the source, if it responded. */
  status?: number;
}

/** The outcome of each file that the archive should hold, by its path below the top-level folder. */
export type Outcomes = Map<string, ResolvedFile | FileFailure>;

/** Reports a file that is missing for a reason other than a failed download. */
export class FileUnavailable extends Error {
  override readonly name = 'FileUnavailable';
  readonly reason: FailureReason;

  constructor(reason: FailureReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Returns the failure that manifest.json reports for an error. Rethrows errors that do not concern a single file. */
export function toFileFailure(error: unknown): FileFailure {
  if (error instanceof FileUnavailable) return { reason: error.reason };
  if (error instanceof DownloadError) {
    return { reason: error.reason, ...(error.status !== undefined && { status: error.status }) };
  }
  throw error;
}

export function isFailure(outcome: object): outcome is FileFailure {
  return 'reason' in outcome;
}

/**
 * Opens a file for a reader of all of it.
 *
 * @throws {FileUnavailable} not_found for an upload that is not in the store
 * @throws when a download has left the store since it was resolved.
 */
export async function openResolved(store: Store, resolved: ResolvedFile): Promise<OpenFile> {
  const file = await store[resolved.area].open(resolved, 'whole');
  if (file !== null) return file;
  if (resolved.area === 'assets') throw new FileUnavailable('not_found');
  throw new Error(`${resolved.sha256} was evicted from the store during use`);
}

/**
 * Outcomes that a build can wait for. There is no promise for each file: an archive may have 20,000 files, and the
 * build waits for few of them at once.
 */
export class PendingOutcomes {
  /** The outcomes so far. */
  readonly known: Outcomes = new Map();
  /** Why no further outcome will come; null while some may. */
  #ended: { reason: unknown } | null = null;
  #waiting: (() => void)[] = [];

  set(path: string, outcome: ResolvedFile | FileFailure): void {
    this.known.set(path, outcome);
    this.#wake();
  }

  /** No further outcome will come. The first reason counts. */
  end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#wake();
  }

  /** Waits for the outcome of a file. @throws the reason why no further outcome will come. */
  async get(path: string): Promise<ResolvedFile | FileFailure> {
    for (;;) {
      const outcome = this.known.get(path);
      if (outcome !== undefined) return outcome;
      if (this.#ended !== null) throw this.#ended.reason;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
