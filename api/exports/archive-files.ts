import { buffer } from 'node:stream/consumers';
import { entryStarts } from '../../shared/exports/archive-layout.ts';
import type { ExportEntry, ExportRecord } from '../../shared/models/export-record.ts';
import type { ExportManifest } from '../../shared/packages/manifest.ts';
import type { Store, StoredArchive } from '../../shared/storage/store.ts';
import { groupsOf } from '../../shared/platform/groups.ts';

/** The number of concurrent lookups of files. Each lookup is a request to a bucket or a disk access. */
const lookupConcurrency = 32;

/** The files of an open archive, as its record describes them. */
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

  /** @param localPath as in manifest.json: "./media/….png". */
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
   * Copies missing files from the archive back into the store. All files count as used now, so eviction leaves them until
   * their URLs have expired.
   */
  async restore(store: Store, signal: AbortSignal): Promise<void> {
    const entries = [...this.#entries.values()].filter(({ path }) => !path.endsWith('/'));
    for (const batch of groupsOf(entries, lookupConcurrency)) {
      const stored = await Promise.all(batch.map((entry) => store[entry.area].has(entry)));
      for (const entry of batch.filter((_, index) => stored[index] === false)) {
        signal.throwIfAborted();
        const { sha256 } = await store[entry.area].put(this.#read(entry));
        if (sha256 !== entry.sha256) throw new Error(`${entry.path} is damaged in the archive`);
      }
    }
  }

  #read({ path, size }: ExportEntry): AsyncIterable<Uint8Array> {
    const start = this.#starts.get(path) ?? 0;
    return this.#archive.chunks(start, start + size);
  }
}
