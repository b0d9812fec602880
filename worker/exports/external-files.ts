import type { Config } from '../../shared/platform/config.ts';
import { groupsOf } from '../../shared/platform/groups.ts';
import { MediaCache } from '../../shared/media/media-cache.ts';
import type { MediaCacheDependencies } from '../../shared/media/media-cache.ts';
import { SmallFiles } from '../../shared/media/small-files.ts';
import type { ExportEntry, ExportRecord } from '../../shared/models/export-record.ts';
import type { Store } from '../../shared/storage/store.ts';
import { checkWidgetFile, maxWidgetBytes } from '../../shared/widgets/check-widget-file.ts';
import type { BuildObserver } from './build-observer.ts';
import type { ResolvedFile } from './file-outcomes.ts';
import type { ExternalFile } from './planned-files.ts';
import { SlowHosts } from './slow-hosts.ts';

/** The number of external files that one query looks up in the media cache. */
const prepareBatchSize = 1000;

export interface ExternalDependencies extends MediaCacheDependencies {
  config: Pick<Config, 'export' | 'download'>;
  observer?: BuildObserver;
}

/** Finds the external files of a build: those of an earlier build, those in the media cache, and those at their origins. */
export class ExternalFiles {
  /** Small downloads that are read once, by path. */
  readonly small = new SmallFiles();
  readonly #store: Store;
  readonly #cache: MediaCache;
  readonly #hosts: SlowHosts;
  readonly #maxBytes: number;
  readonly #observer: BuildObserver | undefined;
  readonly #organizationId: string;
  /** The entries of an earlier build, by path. */
  readonly #recorded: ReadonlyMap<string, ExportEntry>;
  /** The URLs of files that are read more than once. */
  readonly #rereadUrls: ReadonlySet<string>;

  /**
   * @param input.rereadPaths the files that are read again after they are in the archive.
   * @param input.record its external files are taken from the cache without a request to their origins.
   */
  constructor(
    deps: ExternalDependencies,
    input: {
      files: readonly ExternalFile[];
      rereadPaths: ReadonlySet<string>;
      record: ExportRecord | null;
      organizationId: string;
      signal: AbortSignal;
    },
  ) {
    const { store, config, observer } = deps;
    this.#store = store;
    this.#observer = observer;
    this.#maxBytes = config.download.maxBytes;
    this.#cache = new MediaCache({ ...deps, onLookup: (result) => observer?.lookedUp(result) });
    this.#hosts = new SlowHosts(input.signal, config.export.buildSeconds * 1000);
    this.#organizationId = input.organizationId;
    this.#recorded = new Map(input.record?.entries.map((entry) => [entry.path, entry]));
    this.#rereadUrls = rereadUrls(input.files, input.rereadPaths);
  }

  /** Yields the files after the media cache has looked them up in batches. */
  async *prepared(files: readonly ExternalFile[]): AsyncGenerator<ExternalFile> {
    for (const batch of groupsOf(files, prepareBatchSize)) {
      await this.#cache.prepare(batch.map(({ url }) => url));
      yield* batch;
    }
  }

  /** @throws {DownloadError} or {FileUnavailable} when the file is unavailable. */
  async find(file: ExternalFile): Promise<ResolvedFile> {
    const before = this.#recorded.get(file.path);
    if (before?.area === 'cache' && (await this.#store.cache.has(before))) {
      this.#observer?.lookedUp('hit');
      return before;
    }
    // Not copied with `...`: each copy would get a hidden class of half a kilobyte.
    const { sha256, crc32, size, mimeType } = await this.#download(file);
    // Keeps the recorded type, so that a rebuilt manifest.json stays the same.
    const shown = before?.sha256 === sha256 ? (before.mimeType ?? null) : mimeType;
    return { area: 'cache', sha256, crc32, size, mimeType: shown === file.mimeType ? null : shown };
  }

  #download({ path, url, mimeType, widgetFile }: ExternalFile) {
    const organizationId = this.#organizationId;
    const maxBytes = Math.min(this.#maxBytes, widgetFile ? maxWidgetBytes : Infinity);
    const hold = this.#rereadUrls.has(url)
      ? undefined
      : (bytes: readonly Uint8Array[]) => this.small.hold(path, bytes);
    return this.#hosts.get(url, async (limits) => {
      const request = { url, organizationId, mimeType, maxBytes, ...limits, ...(hold && { hold }) };
      const found = await this.#cache.get(request);
      if (widgetFile !== undefined) {
        const { signal } = limits;
        await checkWidgetFile(this.#store, found, widgetFile, { organizationId, signal });
      }
      return found;
    });
  }

  /** Records the downloads, so that later builds find them in the cache. */
  saveRecords(): Promise<void> {
    return this.#cache.saveRecords();
  }

  close(): void {
    this.#hosts.close();
  }
}

/** Returns the URLs of several files, of widgets (which are checked), and of files that are read again. */
function rereadUrls(files: readonly ExternalFile[], rereadPaths: ReadonlySet<string>): ReadonlySet<string> {
  const seen = new Set<string>();
  const reread = new Set<string>();
  for (const { path, url, widgetFile } of files) {
    if (seen.has(url) || widgetFile !== undefined || rereadPaths.has(path)) reread.add(url);
    seen.add(url);
  }
  return reread;
}
