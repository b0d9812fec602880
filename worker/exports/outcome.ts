import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import type { FailureReason } from '../../shared/media/downloads/failure.ts';
import type { Digest, OpenFile, Store } from '../../shared/storage/store.ts';

/** A file of the archive, found: which part of the store has its bytes. */
export interface FoundFile extends Digest {
  area: 'assets' | 'cache';
  /** What an external medium is; null where its declared type says so. */
  mimeType?: string | null;
}

/** A file that the archive should hold and does not, and why. */
export interface Missing {
  reason: FailureReason;
  /** What the source answered, when it answered. */
  status?: number;
}

/** What became of each file that an archive should hold, by its path below the top-level folder. */
export type Outcomes = Map<string, FoundFile | Missing>;

/** A file that is missing for a reason that no download gave. */
export class MissingFile extends Error {
  override readonly name = 'MissingFile';
  readonly reason: FailureReason;

  constructor(reason: FailureReason) {
    super(reason);
    this.reason = reason;
  }
}

/** What manifest.json says of an error; errors that are not about one file are thrown on. */
export function failureOf(error: unknown): Missing {
  if (error instanceof MissingFile) return { reason: error.reason };
  if (error instanceof DownloadError) {
    return { reason: error.reason, ...(error.status !== undefined && { status: error.status }) };
  }
  throw error;
}

export function isMissing(outcome: object): outcome is Missing {
  return 'reason' in outcome;
}

/** Opens a file that was found. @throws when it has left the store since. */
export async function openFound(store: Store, found: FoundFile): Promise<OpenFile> {
  const file = await store[found.area].open(found);
  if (file === null) throw new Error(`${found.sha256} was evicted from the store during use`);
  return file;
}
