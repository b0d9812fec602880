import { onAbort } from '../../shared/platform/abort-listeners.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { ExportRecord } from '../../shared/models/export-record.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import type { Digest, OpenFile, Store } from '../../shared/storage/store.ts';
import { ExternalFiles } from './external-files.ts';
import type { ExternalDependencies } from './external-files.ts';
import { FileUnavailable, openResolved, PendingOutcomes, toFileFailure } from './file-outcomes.ts';
import type { FileFailure, Outcomes, ResolvedFile } from './file-outcomes.ts';
import type { ExportPlan } from './plan.ts';
import { externalFiles, storedFiles } from './planned-files.ts';

/** An open file of the store, or its bytes in memory. */
export interface ReadableFile extends Pick<OpenFile, 'chunks' | 'close'> {
  /** Its bytes have just been compared with its digest. */
  isVerified: boolean;
}

interface ResolveInput {
  plan: ExportPlan;
  /** The files that are read again after they are in the archive. */
  rereadPaths: ReadonlySet<string>;
  /** The size of the other files in the archive, which counts toward EXPORT_MAX_BYTES. */
  otherBytes: number;
  /** The record of an earlier build. */
  record: ExportRecord | null;
  /** The owner of the files. */
  organizationId: string;
  signal: AbortSignal;
}

/**
 * The files of an archive, while they are looked up and downloaded, in archive order and as concurrently as the download
 * limits allow. The build reads them at its own pace.
 */
export class FileResolution {
  /** The paths of all files below the archive's top-level folder, in archive order. */
  readonly paths: readonly string[];
  /** Resolves when no lookup or download is running any more. */
  readonly done: Promise<void>;
  readonly #store: Store;
  readonly #external: ExternalFiles;
  readonly #outcomes = new PendingOutcomes();
  readonly #maxBytes: number;
  #bytes = 0;
  readonly #stop = new AbortController();
  readonly #stopListening: () => void;

  /**
   * Starts the lookups and downloads. Beyond EXPORT_MAX_BYTES, they end and files reject with INVALID_CONTENT.
   *
   * @throws {LecternError} INVALID_CONTENT when the other files alone exceed the limit.
   */
  constructor(deps: ExternalDependencies, { plan, otherBytes, signal, ...input }: ResolveInput) {
    const { store, config } = deps;
    this.#store = store;
    this.#maxBytes = config.export.maxBytes;
    this.reserve(otherBytes);
    const [stored, external] = [storedFiles(plan), externalFiles(plan)];
    this.paths = [...stored, ...external].map(({ path }) => path).sort();
    this.#stopListening = onAbort(signal, () => this.abandon(signal.reason));
    this.#external = new ExternalFiles(deps, { ...input, files: external, signal: this.#stop.signal });
    this.done = this.#resolveAll([
      // Opening an upload shows whether it is in the store, so no lookup is necessary.
      this.#resolve(stored.values(), 1, ({ asset }) => uploadOf(asset)),
      this.#resolve(this.#external.prepared(external), config.download.concurrency, (file) =>
        this.#external.find(file),
      ),
    ]);
  }

  /** The outcomes so far, by path. */
  get outcomes(): Outcomes {
    return this.#outcomes.known;
  }

  /** Waits for the outcome of a file. @throws the error that ended the resolution before. */
  outcomeOf(path: string): Promise<ResolvedFile | FileFailure> {
    return this.#outcomes.get(path);
  }

  /**
   * Opens a file for the archive, or returns the failure of an upload that is not in the store, as its outcome from now
   * on.
   *
   * @throws when a download has left the store since it was resolved.
   */
  async open(path: string, file: ResolvedFile): Promise<ReadableFile | FileFailure> {
    const bytes = this.#external.small.take(path);
    if (bytes !== undefined)
      return { chunks: () => bytesOf(...bytes), close: () => Promise.resolve(), isVerified: true };
    try {
      return { ...(await openResolved(this.#store, file)), isVerified: false };
    } catch (error) {
      const failure = toFileFailure(error);
      this.#outcomes.set(path, failure);
      return failure;
    }
  }

  /** The paths of the files that are only in the archive. */
  get heldPaths(): ReadonlySet<string> {
    return this.#external.small.paths;
  }

  /** Counts further bytes toward EXPORT_MAX_BYTES. @throws {LecternError} INVALID_CONTENT over it. */
  reserve(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    const message = `The archive would be larger than the limit of ${this.#maxBytes} bytes.`;
    throw new LecternError('INVALID_CONTENT', message);
  }

  /** Ends the resolution because the build failed. Waiting for further files rejects with the reason. */
  abandon(reason: unknown): void {
    this.#stop.abort(reason);
    this.#outcomes.end(reason);
  }

  /** Records the downloads, so that later builds find them in the cache. */
  saveRecords(): Promise<void> {
    return this.#external.saveRecords();
  }

  /** Stops running lookups and downloads, and resolves when they have ended. */
  async close(): Promise<void> {
    this.abandon(new Error('the build has ended'));
    await this.done;
    this.#external.close();
    this.#stopListening();
  }

  async #resolveAll(resolving: Promise<void>[]): Promise<void> {
    await Promise.all(resolving);
    this.#outcomes.end(new Error('no such file is planned'));
  }

  /** Settles the outcome of each file in order, `count` at a time. Resolves when no lookup is running. */
  async #resolve<File extends { path: string }>(
    files: IterableIterator<File> | AsyncGenerator<File>,
    count: number,
    find: (file: File) => ResolvedFile | Promise<ResolvedFile>,
  ): Promise<void> {
    const work = async () => {
      try {
        for await (const file of files) await this.#settle(file.path, () => find(file));
      } catch (error) {
        // An error that does not concern a single file stops everything, long before the archive reaches that file.
        this.abandon(error);
      }
    };
    await Promise.all(Array.from({ length: count }, work));
  }

  async #settle(path: string, find: () => ResolvedFile | Promise<ResolvedFile>): Promise<void> {
    try {
      this.#stop.signal.throwIfAborted();
      const file = await find();
      this.reserve(file.size);
      this.#outcomes.set(path, file);
    } catch (error) {
      this.#outcomes.set(path, toFileFailure(error));
    }
  }
}

function uploadOf(asset: Digest | null): ResolvedFile {
  if (asset === null) throw new FileUnavailable('unknown_media');
  const { sha256, crc32, size } = asset;
  return { area: 'assets', sha256, crc32, size };
}
