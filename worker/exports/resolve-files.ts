import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { MediaCache, RecentBytes } from '../../shared/media/media-cache.ts';
import type { MediaCacheDependencies } from '../../shared/media/media-cache.ts';
import type { ExportRecord } from '../../shared/models/export-record.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import type { Digest, OpenFile } from '../../shared/storage/store.ts';
import { checkWidgetFile, maxWidgetBytes, widgetMimeTypes } from '../../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../../shared/widgets/check-widget-file.ts';
import type { BuildObserver, MediaLookup } from './build-observer.ts';
import { FileUnavailable, openResolved, PendingOutcomes, toFileFailure } from './file-outcomes.ts';
import type { FileFailure, Outcomes, ResolvedFile } from './file-outcomes.ts';
import { widgetFiles } from './plan.ts';
import type { ExportPlan, PlannedMediaFile } from './plan.ts';
import { SlowHosts } from './slow-hosts.ts';
import { groupsOf } from '../../shared/platform/groups.ts';

/** The number of external files that one query looks up in the media cache. */
const prepareBatchSize = 1000;

/** An open file of the store, or its bytes in memory. */
export type ReadableFile = Pick<OpenFile, 'chunks' | 'close'>;

/** The files of an archive, while they are looked up and downloaded. */
export interface FileResolution {
  /** The paths of all files below the archive's top-level folder, in archive order. */
  paths: readonly string[];
  /** Waits for the outcome of a file. @throws the error that ended the resolution before. */
  outcomeOf: (path: string) => Promise<ResolvedFile | FileFailure>;
  /** The outcomes so far, by path. */
  outcomes: Outcomes;
  /**
   * Opens a file for the archive, or returns the failure of an upload that is not in the store, as its outcome from now
   * on.
   *
   * @throws when a download has left the store since it was resolved.
   */
  open: (path: string, file: ResolvedFile) => Promise<ReadableFile | FileFailure>;
  /** Resolves when no lookup or download is running any more. */
  done: Promise<unknown>;
  /** Counts further bytes toward EXPORT_MAX_BYTES. @throws {LecternError} INVALID_CONTENT over it. */
  reserve: (bytes: number) => void;
  /** Ends the resolution because the build failed. Waiting for further files rejects with the reason. */
  abandon: (reason: unknown) => void;
  /** Stops running lookups and downloads, and resolves when they have ended and are recorded. */
  end: () => Promise<void>;
}

interface ResolveDependencies extends MediaCacheDependencies {
  config: Pick<Config, 'export' | 'download'>;
  observer?: BuildObserver;
}

interface ResolveInput {
  plan: ExportPlan;
  otherBytes: number;
  record: ExportRecord | null;
  /** The owner of the files. */
  organizationId: string;
  signal: AbortSignal;
}

/** A file that has to be in the store; null for an unknown media id. */
interface StoredFile {
  path: string;
  asset: Digest | null;
}

interface ExternalFile {
  path: string;
  url: string;
  mimeType: string;
  /** The kind of a widget's file, which is checked after the download. */
  widgetFile?: WidgetFileKind;
}

/**
 * Starts to look up and download the files of an archive, in archive order and as concurrently as the download limits
 * allow. It does not wait for the build that reads them.
 *
 * @param input.otherBytes the size of the other files in the archive, which counts toward EXPORT_MAX_BYTES. Over the
 * limit, the resolution ends and its files reject with INVALID_CONTENT.
 * @param input.record the record of an earlier build: its external files are taken from the cache without a request to
 * their origins.
 * @throws {LecternError} INVALID_CONTENT when the other files alone exceed the limit.
 */
export function resolveFiles(
  deps: ResolveDependencies,
  { plan, otherBytes, record, organizationId, signal }: ResolveInput,
): FileResolution {
  const { store, config } = deps;
  if (otherBytes > config.export.maxBytes) throw tooLarge(config.export.maxBytes);
  const stop = new AbortController();
  const ending = AbortSignal.any([signal, stop.signal]);
  const onLookup = (result: MediaLookup) => deps.observer?.lookedUp(result);
  const hosts = new SlowHosts(ending, config.export.buildSeconds * 1000);
  const recent = new RecentBytes();
  const cache = new MediaCache({ ...deps, recent, onLookup });
  const recorded = new Map(record?.entries.map((entry) => [entry.path, entry]));
  const outcomes = new PendingOutcomes(ending);
  let bytes = otherBytes;

  const reserve = (more: number) => {
    bytes += more;
    if (bytes > config.export.maxBytes) throw tooLarge(config.export.maxBytes);
  };
  const settle = async (path: string, resolve: () => ResolvedFile | Promise<ResolvedFile>) => {
    try {
      ending.throwIfAborted();
      const file = await resolve();
      reserve(file.size);
      outcomes.set(path, file);
    } catch (error) {
      outcomes.set(path, toFileFailure(error));
    }
  };
  // Opening an upload shows whether it is in the store, so no lookup is necessary.
  const resolveStored = ({ path, asset }: StoredFile) => settle(path, () => uploadOf(asset));
  const resolveExternal = ({ path, url, mimeType, widgetFile }: ExternalFile) =>
    settle(path, async () => {
      const before = recorded.get(path);
      if (before?.area === 'cache' && (await store.cache.has(before))) {
        onLookup('hit');
        return before;
      }
      const maxBytes = Math.min(config.download.maxBytes, widgetFile ? maxWidgetBytes : Infinity);
      const downloaded = await hosts.get(url, async ({ signal, beforeRequest }) => {
        const file = await cache.get({ url, organizationId, mimeType, maxBytes, signal, beforeRequest });
        if (widgetFile !== undefined) {
          await checkWidgetFile(store, file, widgetFile, { organizationId, signal });
        }
        return file;
      });
      // Not copied with `...`: each copy would get a hidden class of half a kilobyte.
      const { sha256, crc32, size } = downloaded;
      // Keeps the recorded type, so that a rebuilt manifest.json stays the same.
      const shown = before?.sha256 === sha256 ? (before.mimeType ?? null) : downloaded.mimeType;
      return { area: 'cache', sha256, crc32, size, mimeType: shown === mimeType ? null : shown };
    });

  const stored = storedFiles(plan);
  const external = externalFiles(plan);
  // An error that does not concern a single file stops everything at once, long before the archive reaches that file.
  const fail = (error: unknown) => stop.abort(error);
  const done = Promise.all([
    forEachConcurrently(stored.values(), 1, resolveStored, fail),
    forEachConcurrently(prepared(external, cache), config.download.concurrency, resolveExternal, fail),
  ]);
  void done.then(() => fail(new Error('there are no other files')));
  // Saves records while the rest of the archive is written, so that `end` need not wait for MongoDB.
  const saved = done.then(() => cache.flush());
  // `end` rejects with its error.
  saved.catch(() => undefined);
  return {
    paths: [...stored, ...external].map(({ path }) => path).sort(),
    outcomeOf: (path) => outcomes.get(path),
    outcomes: outcomes.known,
    open: async (path, file) => {
      const chunks = file.area === 'cache' ? recent.take(file.sha256) : undefined;
      if (chunks !== undefined) return inMemory(chunks);
      return openResolved(store, file).catch((error: unknown) => {
        const failure = toFileFailure(error);
        outcomes.set(path, failure);
        return failure;
      });
    },
    done,
    reserve,
    abandon: fail,
    async end() {
      stop.abort(new Error('the build has ended'));
      await done;
      hosts.close();
      await saved;
    },
  };
}

function storedFiles(plan: ExportPlan): StoredFile[] {
  const media = plan.media.filter((planned) => !isExternal(planned));
  return [
    ...media.map(({ path, file }) => ({ path, asset: file?.asset ?? null })),
    ...widgetFiles(plan.widgets)
      .filter(({ url }) => url === null)
      .map(({ path, asset }) => ({ path, asset })),
  ];
}

function externalFiles(plan: ExportPlan): ExternalFile[] {
  const media = plan.media
    .filter(isExternal)
    .map(({ path, file }) => ({ path, url: file.sourceUrl, mimeType: file.mimeType }));
  const files = widgetFiles(plan.widgets).flatMap(({ path, url }): ExternalFile[] => {
    const widgetFile = path.endsWith('.css') ? 'css' : 'js';
    return url === null ? [] : [{ path, url, mimeType: widgetMimeTypes[widgetFile], widgetFile }];
  });
  return [...media, ...files];
}

function isExternal(
  planned: PlannedMediaFile,
): planned is PlannedMediaFile & { file: { sourceUrl: string } } {
  return !planned.file?.asset && typeof planned.file?.sourceUrl === 'string';
}

/** Yields the files after the media cache has looked them up in batches. */
async function* prepared(files: ExternalFile[], cache: MediaCache): AsyncGenerator<ExternalFile> {
  for (const batch of groupsOf(files, prepareBatchSize)) {
    await cache.prepare(batch.map(({ url }) => url));
    yield* batch;
  }
}

/** Calls `use` for each item in order, `count` at a time. Resolves when no call is running, even after a failure. */
async function forEachConcurrently<T>(
  items: IterableIterator<T> | AsyncGenerator<T>,
  count: number,
  use: (item: T) => Promise<void>,
  fail: (error: unknown) => void,
): Promise<void> {
  const work = async () => {
    try {
      for await (const item of items) await use(item);
    } catch (error) {
      fail(error);
    }
  };
  await Promise.all(Array.from({ length: count }, work));
}

function inMemory(chunks: readonly Uint8Array[]): ReadableFile {
  return { chunks: () => bytesOf(...chunks), close: () => Promise.resolve() };
}

function uploadOf(asset: Digest | null): ResolvedFile {
  if (asset === null) throw new FileUnavailable('unknown_media');
  const { sha256, crc32, size } = asset;
  return { area: 'assets', sha256, crc32, size };
}

function tooLarge(maxBytes: number): LecternError {
  return new LecternError(
    'INVALID_CONTENT',
    `The archive would be larger than the limit of ${maxBytes} bytes.`,
  );
}
