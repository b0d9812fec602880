import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { MediaCache } from '../../shared/media/media-cache.ts';
import type { MediaCacheDependencies } from '../../shared/media/media-cache.ts';
import type { ExportRecord } from '../../shared/models/export-record.ts';
import type { EvictableFile } from '../../shared/storage/file-usage.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';
import { checkWidgetFile, maxWidgetBytes, widgetMimeTypes } from '../../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../../shared/widgets/check-widget-file.ts';
import type { BuildObserver, MediaLookup } from './build-observer.ts';
import { FoundFiles } from './resolved-files.ts';
import { failureOf, MissingFile } from './outcome.ts';
import type { FoundFile, Missing, Outcomes } from './outcome.ts';
import { widgetFiles } from './plan.ts';
import type { ExportPlan, PlannedMedium } from './plan.ts';
import { SlowSources } from './slow-sources.ts';

/** Looks at the store at once for files that need no download: each is a request to a bucket, or a turn of the disk. */
const looks = 32;

/** External files of which is asked at once what is known of them. */
const preparedAtOnce = 1000;

/** Files that are noted at once as an organization's. */
const ownedAtOnce = 500;

export interface FileSearch {
  /** Of all files, below the archive's top-level folder, in its order. */
  paths: readonly string[];
  /** A file, as soon as it is there or known not to be. @throws what has ended the search before. */
  find: (path: string) => Promise<FoundFile | Missing>;
  /** What is known by now, by path. */
  outcomes: Outcomes;
  /** A found file is not needed any more: an evictor may have it. */
  letGo: (file: FoundFile) => void;
  /** Resolves when nothing is under way any more. */
  done: Promise<unknown>;
  /** Counts further bytes towards EXPORT_MAX_BYTES. @throws {LecternError} INVALID_CONTENT over it. */
  reserve: (bytes: number) => void;
  /** Ends the search: nobody will use its files. Those that are not there yet reject with the reason. */
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
  /** Whose files they are. */
  organizationId: string;
  signal: AbortSignal;
}

/** A file that has to be in the store; null for one that nobody knows. */
interface StoredFile {
  path: string;
  asset: Digest | null;
}

/** A file behind a URL. */
interface ExternalFile {
  path: string;
  url: string;
  mimeType: string;
  /** Of a widget's file, which is checked when it is there. */
  widgetFile?: WidgetFileKind;
}

/**
 * Looks for the files of an archive in its order, as many at once as the limits on downloads allow; it does not wait
 * for who uses them.
 *
 * @param input.otherBytes what the archive holds besides these files; it counts towards EXPORT_MAX_BYTES. A search
 * that goes over the limit ends, and its files reject with INVALID_CONTENT.
 * @param input.record of an earlier build: external files that are in the cache as it has them are taken as they are,
 * and their origins not asked.
 * @throws {LecternError} INVALID_CONTENT when there is no room for any file.
 */
export async function findFiles(
  deps: SearchDependencies,
  { plan, otherBytes, record, organizationId, signal }: SearchInput,
): Promise<FileSearch> {
  const { store, config } = deps;
  if (otherBytes > config.export.maxBytes) throw tooLarge(config.export.maxBytes);
  const stop = new AbortController();
  const ending = AbortSignal.any([signal, stop.signal]);
  const onLookup = (result: MediaLookup) => deps.observer?.lookedUp(result);
  const sources = new SlowSources(ending, config.export.buildSeconds * 1000);
  const cache = new MediaCache({ ...deps, onLookup });
  // From when a file is found until it is in the archive, no evictor takes it.
  const hold = deps.coordination.usage.pin();
  const recorded = new Map(record?.entries.map((entry) => [entry.path, entry]));
  // At once: looking for one after the other would note them one by one.
  await deps.coordination.usage.touch(cachedFiles(record));
  const found = new FoundFiles(ending);
  const owned: EvictableFile[] = [];
  const noteOwned = () => deps.coordination.usage.addOwner(organizationId, owned.splice(0));
  let bytes = otherBytes;

  const reserve = (more: number) => {
    bytes += more;
    if (bytes > config.export.maxBytes) throw tooLarge(config.export.maxBytes);
  };
  const settle = async (path: string, search: () => Promise<FoundFile>) => {
    try {
      ending.throwIfAborted();
      const file = await search();
      if (file.area === 'cache') {
        hold.add(`cache:${file.sha256}`);
        owned.push(`cache:${file.sha256}`);
        // Also of a build that fails: what it downloaded is its organization's.
        if (owned.length >= ownedAtOnce) await noteOwned();
      }
      reserve(file.size);
      found.set(path, file);
    } catch (error) {
      found.set(path, failureOf(error));
    }
  };
  const findStored = ({ path, asset }: StoredFile) => settle(path, () => findAsset(store, asset));
  const findExternal = ({ path, url, mimeType, widgetFile }: ExternalFile) =>
    settle(path, async () => {
      const before = recorded.get(path);
      if (before?.area === 'cache' && (await store.cache.has(before))) {
        onLookup('hit');
        return before;
      }
      const maxBytes = Math.min(config.download.maxBytes, widgetFile ? maxWidgetBytes : Infinity);
      const medium = await sources.get(url, async (signal) => {
        const file = await cache.get({ url, organizationId, mimeType, maxBytes, signal });
        if (widgetFile !== undefined) {
          await checkWidgetFile(store, file, widgetFile, { organizationId, signal });
        }
        return file;
      });
      // Not a copy by `...`, of which each would have a hidden class of its own: half a kilobyte.
      const { sha256, crc32, size } = medium;
      // The type that the record has: built again, manifest.json stays the same.
      const shown = before?.sha256 === sha256 ? (before.mimeType ?? null) : medium.mimeType;
      return { area: 'cache', sha256, crc32, size, mimeType: shown === mimeType ? null : shown };
    });

  const stored = storedFiles(plan);
  const external = externalFiles(plan);
  // One failure that is not about a file ends the rest at once, long before the archive gets to it.
  const fail = (error: unknown) => stop.abort(error);
  const done = Promise.all([
    eachOf(stored.values(), looks, findStored, fail),
    eachOf(prepared(external, cache), config.download.concurrency, findExternal, fail),
  ]);
  void done.then(() => fail(new Error('there are no other files')));
  return {
    paths: [...stored, ...external].map(({ path }) => path).sort(),
    find: (path) => found.get(path),
    outcomes: found.outcomes,
    letGo: ({ area, sha256 }) => {
      if (area === 'cache') hold.unpin(`cache:${sha256}`);
    },
    done,
    reserve,
    abandon: fail,
    async end() {
      stop.abort(new Error('the build has ended'));
      await done;
      sources.close();
      hold.release();
      await noteOwned();
      await cache.flush();
    },
  };
}

function storedFiles(plan: ExportPlan): StoredFile[] {
  const media = plan.media.filter((planned) => !isExternal(planned));
  return [
    ...media.map(({ path, medium }) => ({ path, asset: medium?.asset ?? null })),
    ...widgetFiles(plan.widgets)
      .filter(({ url }) => url === null)
      .map(({ path, asset }) => ({ path, asset })),
  ];
}

function externalFiles(plan: ExportPlan): ExternalFile[] {
  const media = plan.media
    .filter(isExternal)
    .map(({ path, medium }) => ({ path, url: medium.sourceUrl, mimeType: medium.mimeType }));
  const files = widgetFiles(plan.widgets).flatMap(({ path, url }): ExternalFile[] => {
    const widgetFile = path.endsWith('.css') ? 'css' : 'js';
    return url === null ? [] : [{ path, url, mimeType: widgetMimeTypes[widgetFile], widgetFile }];
  });
  return [...media, ...files];
}

function isExternal(planned: PlannedMedium): planned is PlannedMedium & { medium: { sourceUrl: string } } {
  return !planned.medium?.asset && typeof planned.medium?.sourceUrl === 'string';
}

async function* prepared(files: ExternalFile[], cache: MediaCache): AsyncGenerator<ExternalFile> {
  for (let start = 0; start < files.length; start += preparedAtOnce) {
    const some = files.slice(start, start + preparedAtOnce);
    await cache.prepare(some.map(({ url }) => url));
    yield* some;
  }
}

/** Uses each item in its order, `count` at a time; resolves when nothing is under way, also after a failure. */
async function eachOf<T>(
  items: IterableIterator<T> | AsyncGenerator<T>,
  count: number,
  use: (item: T) => Promise<void>,
  fail: (error: unknown) => void,
): Promise<void> {
  const useSome = async () => {
    try {
      for await (const item of items) await use(item);
    } catch (error) {
      fail(error);
    }
  };
  await Promise.all(Array.from({ length: count }, useSome));
}

function cachedFiles(record: ExportRecord | null): EvictableFile[] {
  const cached = record?.entries.filter(({ area }) => area === 'cache') ?? [];
  return cached.map(({ sha256 }): EvictableFile => `cache:${sha256}`);
}

async function findAsset(store: Store, asset: Digest | null): Promise<FoundFile> {
  if (asset === null) throw new MissingFile('unknown_media');
  if (!(await store.assets.has(asset))) throw new MissingFile('not_found');
  const { sha256, crc32, size } = asset;
  return { area: 'assets', sha256, crc32, size };
}

function tooLarge(maxBytes: number): LecternError {
  return new LecternError(
    'INVALID_CONTENT',
    `The archive would be larger than the limit of ${maxBytes} bytes.`,
  );
}
