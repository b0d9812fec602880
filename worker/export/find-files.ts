import pLimit from 'p-limit';
import type { Config } from '../../shared/config.ts';
import { LecternError } from '../../shared/errors.ts';
import { MediaCache } from '../../shared/media-cache.ts';
import type { MediaCacheDependencies } from '../../shared/media-cache.ts';
import type { ExportRecord } from '../../shared/models/export-record.ts';
import type { EvictableFile } from '../../shared/sharing/file-uses.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';
import type { BuildObserver, MediaLookup } from './build-observer.ts';
import { failureOf, MissingFile } from './outcome.ts';
import type { Missing } from './outcome.ts';
import { filesOfRelease } from './plan.ts';
import type { ExportPlan, PlannedMedium } from './plan.ts';

/** A file of the archive, found: which part of the store has its bytes. */
export interface FoundFile extends Digest {
  area: 'assets' | 'cache';
}

export interface FileSearch {
  /** By path below the archive's top-level folder; each settles as soon as its file is there, or known not to be. */
  files: Map<string, Promise<FoundFile | Missing>>;
  /** Counts further bytes towards EXPORT_MAX_BYTES. @throws {LecternError} INVALID_CONTENT over it. */
  reserve: (bytes: number) => void;
  /** Ends the downloads under way: nobody will use them. Files that are not there yet reject with the reason. */
  abandon: (reason: unknown) => void;
  /** Ends what is still under way, and resolves when nothing is. */
  end: () => Promise<void>;
}

interface SearchDependencies extends MediaCacheDependencies {
  config: Pick<Config, 'export' | 'download'>;
  observer?: BuildObserver;
}

interface SearchInput {
  plan: ExportPlan;
  otherBytes: number;
  record: ExportRecord | null;
  signal: AbortSignal;
}

/**
 * Looks for every file of an archive at once, within the limits on downloads.
 *
 * @param input.otherBytes what the archive holds besides these files; it counts towards EXPORT_MAX_BYTES. A search
 * that goes over the limit ends, and its files reject with INVALID_CONTENT.
 * @param input.record of an earlier build: external media that are in the cache as it has them are taken as they are,
 * and their origins not asked.
 * @throws {LecternError} INVALID_CONTENT when there is no room for any file.
 */
export async function findFiles(
  deps: SearchDependencies,
  { plan, otherBytes, record, signal }: SearchInput,
): Promise<FileSearch> {
  const { store, config } = deps;
  if (otherBytes > config.export.maxBytes) throw tooLarge(config.export.maxBytes);
  const stop = new AbortController();
  const ending = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(config.download.concurrency);
  const onLookup = (result: MediaLookup) => deps.observer?.lookedUp(result);
  const cache = new MediaCache({ ...deps, onLookup });
  // From when a file is found until it is in the archive, no evictor takes it.
  const hold = deps.sharing.uses.hold();
  const recorded = new Map(record?.entries.map((entry) => [entry.path, entry]));
  // At once: looking for one after the other would note them one by one.
  await deps.sharing.uses.note(cachedFiles(record));
  const files: FileSearch['files'] = new Map();
  let bytes = otherBytes;

  const reserve = (more: number) => {
    bytes += more;
    if (bytes > config.export.maxBytes) throw tooLarge(config.export.maxBytes);
  };
  const find = (path: string, search: () => Promise<FoundFile>) => {
    const found = search()
      .then((file) => {
        if (file.area === 'cache') hold.add(`cache:${file.sha256}`);
        reserve(file.size);
        return file;
      })
      .catch(failureOf);
    // One failure that is not about a file ends the rest at once, long before the archive gets to it. Handling it
    // here also keeps it from counting as unhandled until then.
    found.catch((error: unknown) => stop.abort(error));
    files.set(path, found);
  };
  const findMedium = async ({ path, medium }: PlannedMedium): Promise<FoundFile> => {
    if (medium?.asset) return findAsset(store, medium.asset);
    if (typeof medium?.sourceUrl !== 'string') throw new MissingFile('unknown_media');
    const { sourceUrl: url, mimeType } = medium;
    return limit(async () => {
      ending.throwIfAborted();
      const before = recorded.get(path);
      if (before?.area === 'cache' && (await store.cache.has(before))) {
        onLookup('hit');
        return before;
      }
      const file = await cache.get({ url, mimeType, maxBytes: config.download.maxBytes, signal: ending });
      return { ...file, area: 'cache' };
    });
  };

  await cache.prepare(plan.media.flatMap(({ medium }) => medium?.sourceUrl ?? []));
  for (const planned of plan.media) find(planned.path, () => findMedium(planned));
  for (const { release } of plan.widgets) {
    if (release === null) continue;
    for (const { path, file } of filesOfRelease(release)) find(path, () => findAsset(store, file));
  }
  return {
    files,
    reserve,
    abandon: (reason) => stop.abort(reason),
    async end() {
      stop.abort(new Error('the build has ended'));
      await Promise.allSettled(files.values());
      hold.release();
      await cache.flush();
    },
  };
}

function cachedFiles(record: ExportRecord | null): EvictableFile[] {
  const cached = record?.entries.filter(({ area }) => area === 'cache') ?? [];
  return cached.map(({ sha256 }): EvictableFile => `cache:${sha256}`);
}

async function findAsset(store: Store, asset: Digest): Promise<FoundFile> {
  if (!(await store.assets.has(asset))) throw new MissingFile('not_found');
  return { ...asset, area: 'assets' };
}

function tooLarge(maxBytes: number): LecternError {
  return new LecternError(
    'INVALID_CONTENT',
    `The archive would be larger than the limit of ${maxBytes} bytes.`,
  );
}
