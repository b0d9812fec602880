import { buffer } from 'node:stream/consumers';
import { entryStarts } from '../../shared/exports/archive-layout.ts';
import type { ExportEntry, ExportRecord } from '../../shared/models/export-record.ts';
import type { ExportManifest } from '../../shared/packages/manifest.ts';
import type { EvictableFile } from '../../shared/storage/file-usage.ts';
import type { Store, StoredArchive } from '../../shared/storage/store.ts';

/** Looks at the store at once: each is a request to a bucket, or a turn of the disk. */
const looks = 32;

/** The files of an archive that is open, as its record tells of them. */
export class ArchiveFiles {
  readonly #archive: StoredArchive;
  readonly #entries: Map<string, ExportEntry>;
  readonly #starts: Map<string, number>;

  /** @param folder the archive's top-level folder. */
  constructor(archive: StoredArchive, { entries }: Pick<ExportRecord, 'entries'>, folder: string) {
    this.#archive = archive;
    this.#entries = new Map(entries.map((entry) => [entry.path, entry]));
    this.#starts = entryStarts(folder, entries);
  }

  /** @param localPath as manifest.json has it: "./media/….png". */
  find(localPath: string): ExportEntry {
    const entry = this.#entries.get(localPath.replace(/^\.\//, ''));
    if (entry === undefined) throw new Error(`${localPath} is not in the archive's record`);
    return entry;
  }

  async manifest(): Promise<ExportManifest> {
    const bytes = await buffer(this.#read(this.find('manifest.json')));
    return JSON.parse(bytes.toString('utf8')) as ExportManifest;
  }

  /**
   * Puts files back into the store that an evictor removed. The caller has pinned them.
   */
  async restore(store: Store, signal: AbortSignal): Promise<void> {
    const entries = [...this.#entries.values()].filter(({ path }) => !path.endsWith('/'));
    for (let start = 0; start < entries.length; start += looks) {
      const some = entries.slice(start, start + looks);
      const there = await Promise.all(some.map((entry) => store[entry.area].has(entry, 'glance')));
      for (const entry of some.filter((_, index) => there[index] === false)) {
        signal.throwIfAborted();
        await this.#restore(store, entry);
      }
    }
  }

  /** Those that an evictor may remove, as it names them. */
  cached(): EvictableFile[] {
    const entries = [...this.#entries.values()].filter(({ area }) => area === 'cache');
    return entries.map(({ sha256 }): EvictableFile => `cache:${sha256}`);
  }

  async #restore(store: Store, entry: ExportEntry): Promise<void> {
    const { sha256 } = await store[entry.area].put(this.#read(entry));
    if (sha256 !== entry.sha256) throw new Error(`${entry.path} is damaged in the archive`);
  }

  #read({ path, size }: ExportEntry): AsyncIterable<Uint8Array> {
    const start = this.#starts.get(path) ?? 0;
    return this.#archive.chunks(start, start + size);
  }
}
